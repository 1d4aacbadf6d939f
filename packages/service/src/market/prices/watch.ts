import type { FeedState, PriceBook } from './book.ts'
import type { Unavailable } from './reference.ts'

export type PriceChange = { asset: string; state: 'available' | Unavailable; feeds: FeedState[] }

/** Returns a look at all assets that tells each change of state once; before the first look all count as available. */
export function createPriceWatch(book: PriceBook, onChange: (change: PriceChange) => void): () => void {
  const known = new Map<string, PriceChange['state']>()
  return () => {
    for (const asset of book.assets) {
      const state = book.referenceOf(asset).unavailable ?? 'available'
      if (state === (known.get(asset) ?? 'available')) continue
      known.set(asset, state)
      onChange({ asset, state, feeds: book.feedsOf(asset) })
    }
  }
}
