import type { Share } from './group.ts'

type Sharing = { active: readonly string[]; address: string; canSend(address: string): boolean }

/**
 * The share of the work of this key; undefined for a retired key. Keys that cannot send leave theirs to the others.
 * Workers may notice such a change at different times. For some seconds a swap may then have two keys, of which the
 * first to record its delivery sends it, or none.
 */
export function shareOf({ active, address, canSend }: Sharing): Share | undefined {
  const able = active.filter(canSend)
  const sharing = able.length > 0 ? able : active
  const index = sharing.indexOf(address)
  return index < 0 ? undefined : { index, of: sharing.length }
}
