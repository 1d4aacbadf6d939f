import type { Share } from './group.ts'

type Sharing = { active: readonly string[]; address: string; hasGas(address: string): boolean }

/**
 * The share of the work of this key. Keys without gas leave theirs to the others; a retired key has none (undefined).
 * Workers may notice a change of gas at different times. For some seconds a swap may then have two keys, of which the
 * first to record its delivery sends it, or none.
 */
export function shareOf({ active, address, hasGas }: Sharing): Share | undefined {
  const able = active.filter(hasGas)
  const sharing = able.length > 0 ? able : active
  const index = sharing.indexOf(address)
  return index < 0 ? undefined : { index, of: sharing.length }
}
