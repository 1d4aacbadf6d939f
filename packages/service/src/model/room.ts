/** An amount demanded of the resource that `key` names. */
export type Demand = { key: string; amount: bigint }

/** The items whose demands all fit into the remaining room, in order. */
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
