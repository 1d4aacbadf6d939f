import { createHash, timingSafeEqual } from 'node:crypto'

export type OperatorKeys = {
  /** The id of the key, which is no secret; undefined when there is no such key. */
  find(key: string): string | undefined
}

/** Every key is compared, each in constant time: how long it takes says nothing about any of them. */
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

/** Says which of several keys it was, and nothing more of it. */
const idOf = (key: string): string =>
  `operator key ${createHash('sha256').update('id:').update(key).digest('hex').slice(0, 8)}`
