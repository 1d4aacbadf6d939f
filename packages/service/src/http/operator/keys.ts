import { createHash, timingSafeEqual } from 'node:crypto'

export type OperatorKeys = {
  /** The id of the key, which is not secret; undefined if the key is unknown. */
  find(key: string): string | undefined
}

/** Compares all keys, each in constant time, so that the duration reveals nothing. */
export function createOperatorKeys(keys: readonly string[]): OperatorKeys {
  const known = keys.map((key) => ({ digest: digestOf(key), id: idOf(key) }))
  return {
    find(key) {
      const digest = digestOf(key)
      const matching = known.filter((each) => timingSafeEqual(each.digest, digest))
      return matching[0]?.id
    },
  }
}

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest()

/** Identifies one of several keys without revealing it. */
const idOf = (key: string): string =>
  `operator key ${createHash('sha256').update('id:').update(key).digest('hex').slice(0, 8)}`
