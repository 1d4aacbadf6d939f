import { UserError } from './errors.ts'

export type Interrupts = ReturnType<typeof createInterrupts>

// A submission is normally answered within milliseconds.
const GRACE_MS = 3_000
// npm forwards the signal that the terminal also delivers, so one press arrives twice.
const SAME_PRESS_MS = 500

export function interrupted(): UserError {
  return new UserError('INTERRUPTED', 'Interrupted.')
}

/**
 * Turns Ctrl-C into an abort signal. It can be delayed briefly where leaving at once would lose an answer.
 */
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
