/** The report of a drill for its reader: what happened, what an operator sees, and what is done about it. */
export type Report = {
  happens(what: string): void
  sees(what: string): void
  /** A command as it is typed, or an action by hand. */
  does(what: string): void
  /** Reports that the condition holds, or ends the drill. */
  expects(what: string, isSo: boolean, instead?: string): void
  /** Repeats until there is an answer, with an occasional line for the reader. */
  until<T>(what: string, ask: () => Promise<T | undefined | false>, timeoutMs?: number): Promise<T>
}

export class Failed extends Error {}

const LOOK_MS = 250
const PROGRESS_MS = 10_000
const TIMEOUT_MS = 60_000

export function createAccount(print: (line: string) => void): Report {
  const startedAt = performance.now()
  const say = (kind: string, text: string) => {
    const [first = '', ...rest] = text.split('\n')
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    print(`${seconds.padStart(6)} s  ${kind.padEnd(8)} ${first}`)
    for (const line of rest) print(`${' '.repeat(19)}${line}`)
  }
  return {
    happens: (what) => say('happens', what),
    sees: (what) => say('seen', what),
    does: (what) => say('done', what),
    expects(what, isSo, instead) {
      if (!isSo) throw new Failed(`${what}: no${instead === undefined ? '' : `, but ${instead}`}`)
      say('ok', what)
    },
    async until(what, ask, timeoutMs = TIMEOUT_MS) {
      const begun = performance.now()
      let told = begun
      for (;;) {
        const answer = await ask()
        if (answer !== undefined && answer !== false) return answer
        const now = performance.now()
        const waited = `${Math.round((now - begun) / 1_000)} s`
        if (now - begun > timeoutMs) throw new Failed(`${what}: not within ${waited}`)
        if (now - told > PROGRESS_MS) {
          say('…', `${what}, for ${waited} so far`)
          told = now
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      }
    },
  }
}
