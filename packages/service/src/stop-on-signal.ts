import type { Logger } from './observe/logger.ts'

/** `servesOnMs`: how long the process keeps serving before it starts to close. */
export type Running = { servesOnMs?: number; close(): Promise<void> }

type Process = {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): void
}

// Less than the ten seconds that supervisors usually grant. Work that waits for a silent node is abandoned: a worker
// may be killed at any point, and its lanes are taken over when their leases expire.
const CLOSE_MS = 9_000

/** The first signal drains, the second ends at once. */
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
