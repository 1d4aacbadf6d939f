// Well above what the event loop of a busy process is late by.
const TICK_MS = 1_000
const LONGEST_TICK_MS = 5_000

/**
 * Milliseconds for which this process has been running. One that was stopped and goes on has not looked at anything
 * meanwhile, and must not take its own absence for that of others.
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
