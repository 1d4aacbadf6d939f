/** Numbers that a seed decides, so that a case can be run again. */
export type Random = ReturnType<typeof createRandom>

/** SplitMix32. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0
    let value = state
    value = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
    value = Math.imul(value ^ (value >>> 15), 0x735a2d97)
    return (value ^ (value >>> 15)) >>> 0
  }
  const below = (limit: number) => next() % limit
  return {
    below,
    isOneOf: (count: number) => below(count) === 0,
    pick<T>(list: readonly T[]): T {
      const found = list[below(list.length)]
      if (found === undefined) throw new RangeError('Nothing to pick from')
      return found
    },
  }
}
