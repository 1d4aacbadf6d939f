import type { Share } from './group.ts'

type Sharing = { active: readonly string[]; address: string; hasGas(address: string): boolean }

/**
 * Which part of the work is this key's: keys without gas leave theirs to the others. Undefined for a key that has none,
 * as one that is being retired. Workers may see gas at different times. Then a swap has two keys for some seconds, of
 * which the first to record its delivery pays, or none.
 */
export function shareOf({ active, address, hasGas }: Sharing): Share | undefined {
  const able = active.filter(hasGas)
  const sharing = able.length > 0 ? able : active
  const index = sharing.indexOf(address)
  return index < 0 ? undefined : { index, of: sharing.length }
}
