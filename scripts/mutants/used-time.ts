const TIME = /^\s*(\d+)\s+(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)\s*$/

/** Seconds of processor time that a group of processes has used, from `ps -A -o pgid=,time=`. */
export function usedSeconds(table: string, group: number): number {
  return table.split('\n').reduce((sum, line) => {
    const [, id, ...parts] = TIME.exec(line) ?? []
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
    return Number(id) === group ? sum + ((days * 24 + hours) * 60 + minutes) * 60 + seconds : sum
  }, 0)
}

export type Silence = { usedSeconds: number; silentSeconds: number }

// Far more than a test file takes.
const MAX_USED_SECONDS = 60
const MAX_SILENT_SECONDS = 600

/** A loop without end uses the processor. On a busy machine an honest test may wait for it for minutes. */
export function isEndless({ usedSeconds: used, silentSeconds }: Silence): boolean {
  return used >= MAX_USED_SECONDS || silentSeconds >= MAX_SILENT_SECONDS
}
