import { CliError } from './errors.ts'

export type Interrupts = ReturnType<typeof createInterrupts>

// A submission is answered within milliseconds, or something is wrong with the service or the way to it.
const GRACE_MS = 3_000
// npm passes on what the terminal also delivers: twice the same press.
const SAME_PRESS_MS = 500

export function interrupted(): CliError {
  return new CliError('INTERRUPTED', 'Interrupted.')
}

/** Ctrl-C as an abort signal that can wait for a moment where leaving at once would lose an answer. */
export function createInterrupts(say: (line: string) => void) {
  const controller = new AbortController()
  let isHeld = false
  let pressedAt: number | undefined
  let timer: NodeJS.Timeout | undefined

  function abort(): void {
    clearTimeout(timer)
    controller.abort(interrupted())
  }

  return {
    signal: controller.signal,

    press(): void {
      const isSame = pressedAt !== undefined && Date.now() - pressedAt < SAME_PRESS_MS
      const isFirst = pressedAt === undefined
      pressedAt ??= Date.now()
      if (isSame) return
      const isPatient = isHeld && isFirst
      if (isPatient)
        say('Interrupted: waiting for the answer to the submission. Ctrl-C again leaves at once.')
      if (isPatient) timer = setTimeout(abort, GRACE_MS)
      else abort()
    },

    hold(): void {
      isHeld = true
    },

    release(): void {
      isHeld = false
      if (pressedAt !== undefined) abort()
    },
  }
}
