/** Pseudorandom numbers, equal for equal seeds (mulberry32). */
export type Random = {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** From `least` to `most`, both included. */
  integer(least: number, most: number): number
  pick<T>(items: readonly T[]): T
  /** From 1 to `most`, each order of magnitude equally likely, down to the last digit. */
  amountUpTo(most: bigint): bigint
}

// The number of digits that a double holds exactly.
const DIGITS = 15

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))

  function pick<T>(items: readonly T[]): T {
    const item = items[integer(0, items.length - 1)]
    if (item === undefined) throw new Error('There is nothing to pick from')
    return item
  }

  function amountUpTo(most: bigint): bigint {
    const exponent = next() * Math.log10(Number(most))
    const leading = BigInt(Math.floor(10 ** (exponent % 1) * 10 ** DIGITS))
    const shift = Math.floor(exponent) - DIGITS
    if (shift <= 0) return leading / 10n ** BigInt(-shift)
    const rest = Array.from({ length: shift }, () => integer(0, 9)).join('')
    const amount = BigInt(`${leading}${rest}`)
    return amount < most ? amount : most
  }

  return { next, integer, pick, amountUpTo }
}
