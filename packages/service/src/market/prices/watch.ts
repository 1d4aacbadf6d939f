import type { FeedState, PriceBook } from './book.ts'
import type { Unavailable } from './reference.ts'

export type PriceChange = { asset: string; state: 'available' | Unavailable; feeds: FeedState[] }

/** Returns a function that checks all assets and reports each change of state once. Assets start as available. */
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
