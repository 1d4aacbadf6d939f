import type { Logger } from './observe/logger.ts'

/** `servesOnMs` is how long it goes on serving before it begins to close. */
export type Running = { servesOnMs?: number; close(): Promise<void> }

type Process = {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): void
}

// Of the ten seconds that a supervisor gives at least. What a silent node holds up is left as it is: a worker may be
// killed at any point, and its lanes are taken over when their leases are over.
const CLOSE_MS = 9_000

/** The first signal drains, a second one ends at once. */
export function stopOnSignal(running: Running, logger: Logger, process: Process): void {
  let stopping = false
  const stop = async () => {
    if (stopping) return process.exit(1)
    stopping = true
    const end = () => logger.flush(() => process.exit(0))
    setTimeout(
      () => {
        logger.warn('not drained in time')
        end()
      },
      (running.servesOnMs ?? 0) + CLOSE_MS,
    )
    await running.close().catch((err: unknown) => logger.error({ err }, 'close failed'))
    end()
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}
