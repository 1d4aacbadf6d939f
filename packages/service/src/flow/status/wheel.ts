const TICK_MS = 50

export type Wheel<Item> = { add(item: Item): void; remove(item: Item): void; stop(): void }

/** Calls back for each item soon after its deadline (clock milliseconds), with one interval for all of them. */
export function createWheel<Item extends { deadline: number }>(
  onDue: (item: Item) => void,
  clock: { now(): number } = performance,
): Wheel<Item> {
  const slots = new Map<number, Set<Item>>()
  const slotOf = (time: number): number => Math.ceil(time / TICK_MS)
  let turned = slotOf(clock.now())

  const turn = (): void => {
    const now = Math.floor(clock.now() / TICK_MS)
    for (; turned <= now; turned++) {
      const due = slots.get(turned)
      slots.delete(turned)
      for (const item of due ?? []) onDue(item)
    }
  }
  const timer = setInterval(turn, TICK_MS)
  timer.unref()

  return {
    add(item) {
      const slot = Math.max(turned, slotOf(item.deadline))
      slots.set(slot, (slots.get(slot) ?? new Set()).add(item))
    },
    remove: (item) => void slots.get(slotOf(item.deadline))?.delete(item),
    stop: () => clearInterval(timer),
  }
}
