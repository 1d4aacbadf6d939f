/** Something that is asked for: this much of what a key names. */
export type Demand = { key: string; amount: bigint }

/** Those that everything they ask for has room for, in their order. The others wait. */
export function withinRoom<T>(
  items: readonly T[],
  demandsOf: (item: T) => readonly Demand[],
  roomOf: (key: string) => bigint,
): T[] {
  const left = new Map<string, bigint>()
  const leftOf = (key: string) => left.get(key) ?? roomOf(key)
  return items.filter((item) => {
    const demands = demandsOf(item)
    if (demands.some(({ key, amount }) => amount > leftOf(key))) return false
    for (const { key, amount } of demands) left.set(key, leftOf(key) - amount)
    return true
  })
}
