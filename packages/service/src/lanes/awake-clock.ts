// Well above the event loop's delay in a busy process.
const TICK_MS = 1_000
const LONGEST_TICK_MS = 5_000

/**
 * Milliseconds for which this process was running. A process that was suspended observed nothing meanwhile, and must
 * not count that time as downtime of a chain.
 */
export function createAwakeClock(read: () => number = () => performance.now()) {
  let awake = 0
  let last = read()
  function now(): number {
    const time = read()
    awake += Math.min(time - last, LONGEST_TICK_MS)
    last = time
    return awake
  }
  const ticking = setInterval(now, TICK_MS).unref()
  return { now, stop: () => clearInterval(ticking) }
}
