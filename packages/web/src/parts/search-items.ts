import type { Mark } from './marks.ts'

/** An entry of a picker. */
export type Item = {
  id: string
  name: string
  mark: Mark
  /** A second line, such as an address. */
  detail?: string | undefined
  /** Why it cannot be chosen now. */
  refusal?: string | undefined
}

/** Items that contain the text: those whose name begins with it first, those that cannot be chosen last. */
export function searchItems(items: readonly Item[], text: string): Item[] {
  const wanted = text.trim().toLowerCase()
  const rankOf = ({ name, id, detail = '', refusal }: Item): number => {
    const places = [name, detail, id].map((each) => each.toLowerCase().indexOf(wanted))
    if (places.every((place) => place < 0)) return -1
    return (refusal === undefined ? 0 : 2) + (places[0] === 0 ? 0 : 1)
  }
  return items
    .map((item) => ({ item, rank: rankOf(item) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}

/** The next index for an arrow key, around the ends. */
export function stepIn(count: number, index: number, by: 1 | -1): number {
  return count === 0 ? 0 : (index + by + count) % count
}
