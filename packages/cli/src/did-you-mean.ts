import { findNearest } from '@geoswap/wire/nearest'

/** Appended to a refusal: empty if nothing is near. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const nearest = findNearest(word, known)
  return nearest === undefined ? '' : ` Did you mean ${prefix}${nearest}?`
}
