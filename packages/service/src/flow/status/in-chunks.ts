/**
 * Calls `work` for each item, so many per turn of the event loop: thousands of swaps that end at once do
 * not keep other calls waiting until the last of them is looked at.
 */
export function inChunks<Item>(work: (item: Item) => void, perTurn = 128): (item: Item) => void {
  let queue: Item[] = []
  const turn = (): void => {
    const now = queue.slice(0, perTurn)
    queue = queue.slice(perTurn)
    if (queue.length > 0) setImmediate(turn)
    for (const item of now) work(item)
  }
  return (item) => {
    queue.push(item)
    if (queue.length === 1) setImmediate(turn)
  }
}
