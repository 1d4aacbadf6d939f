import type { Hex } from 'viem'

/** An escrow slot: round (32 bits), state (2), low 222 bits of the op's hash. */
export type SlotState = 'none' | 'locked' | 'claimed' | 'refunded'

const STATES = ['none', 'locked', 'claimed', 'refunded'] as const satisfies readonly SlotState[]
const HASH_MASK = (1n << 222n) - 1n

/** The state of this op by the slot's word: `none` also if the slot holds another op. */
export function slotStateOf(word: bigint, opHash: Hex): SlotState {
  if ((word & HASH_MASK) !== (BigInt(opHash) & HASH_MASK)) return 'none'
  return STATES[Number((word >> 222n) & 3n)] ?? 'none'
}
