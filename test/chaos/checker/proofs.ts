import type { Database, Move, Proof, SwapRow } from './database.ts'
import { type Check, type Evidence, eachAsync } from './evidence.ts'

// Every decision about funds records the chain state it was based on. The checker reads that state again.

const DECISIONS = ['failed', 'refundDecided']
const HASH_MASK = (1n << 222n) - 1n
const STATES = ['none', 'locked', 'claimed', 'refunded']

export const provenDecisions: Check = (evidence) => {
  const swaps = new Map(evidence.db.swaps.map((swap) => [swap.id, swap]))
  const decisions = evidence.db.moves.filter(
    ({ was, became }) => DECISIONS.includes(became) && was !== became,
  )
  return eachAsync('INV-22', decisions, async (move) => {
    const swap = swaps.get(move.swap_id)
    if (!swap || !move.proof) return `${move.swap_id} became ${move.became} without a proof`
    const objection = await objectionTo(evidence, swap, move, move.proof)
    return objection && `${move.swap_id} became ${move.became} by ${move.proof.kind}: ${objection}`
  })
}

async function objectionTo(evidence: Evidence, swap: SwapRow, move: Move, proof: Proof) {
  const role = move.became === 'failed' ? 'lock' : 'deliver'
  if (proof.kind === 'neverSigned') {
    const signed = evidence.db.attempts.filter(
      (each) => each.role === role && each.swap_ids.includes(swap.id),
    )
    return signed.length > 0 ? `${signed.length} ${role} transactions were signed` : undefined
  }
  const chain = evidence.evm.get(proof.chainId)
  if (!proof.block) return undefined
  if (!chain) return objectionOnSolana(evidence, swap, proof.kind, BigInt(proof.block.number))
  const number = Number(proof.block.number)
  const block = await chain.blockAt(number)
  if (block.hash !== proof.block.hash) return `block ${number} is not on the chain`
  if (proof.kind === 'notLockedPastDeadline') {
    if (block.seconds <= swap.op_deadline) return 'the deadline had not passed'
    return lockedAt(evidence, swap, number)
  }
  if (proof.kind === 'attemptsConsumedUnlocked')
    return (await consumedAt(evidence, swap, 'lock', number)) ?? lockedAt(evidence, swap, number)
  if (proof.kind === 'notDeliveredPastDeadline' && block.seconds <= swap.fill_deadline)
    return 'the deadline had not passed'
  if (proof.kind === 'attemptsConsumedUndelivered') {
    const open = await consumedAt(evidence, swap, 'deliver', number)
    if (open) return open
  }
  return deliveredAt(evidence, swap, number)
}

/** A node keeps no past state, so every delivery of the swap counts. */
async function objectionOnSolana(evidence: Evidence, swap: SwapRow, kind: string, slot: bigint) {
  if (kind !== 'notDeliveredPastDeadline') return undefined
  const seconds = await evidence.solana.secondsAt(slot)
  return objectionToLateRefund(seconds, swap, evidence.opEventsOf(swap, 'deliver'))
}

/** The escrow program refuses deliveries past their deadline. */
export function objectionToLateRefund(
  seconds: number,
  { fill_deadline }: Pick<SwapRow, 'fill_deadline'>,
  deliveries: readonly unknown[],
): string | undefined {
  if (seconds <= fill_deadline) return 'the deadline had not passed'
  return deliveries.length > 0 ? 'the vault had paid it' : undefined
}

async function lockedAt({ evm }: Evidence, swap: SwapRow, block: number): Promise<string | undefined> {
  const word = await evm.get(swap.origin_chain)?.slotAt(swap.locker, swap.position, block)
  if (word === undefined || (word & HASH_MASK) !== (BigInt(swap.op_hash) & HASH_MASK)) return undefined
  return `the slot said ${STATES[Number((word >> 222n) & 3n)]}`
}

async function deliveredAt({ evm }: Evidence, swap: SwapRow, block: number): Promise<string | undefined> {
  const origin = evm.get(swap.origin_chain)
  const destination = evm.get(swap.destination_chain)
  if (!origin || !destination) return undefined
  const last = await destination.lastRoundAt(await origin.ringOf(swap.locker), swap.position, block)
  return last >= swap.round ? 'the vault had paid it' : undefined
}

type Attempts = Database['attempts']

/** Every signed transaction on record at that time has a nonce that the chain had consumed. */
async function consumedAt({ db, evm }: Evidence, swap: SwapRow, role: string, block: number) {
  const signed: Attempts = db.attempts.filter((each) => each.role === role && each.swap_ids.includes(swap.id))
  for (const { chain_id, sender, nonce } of signed) {
    const taken = (await evm.get(chain_id)?.nonceAt(sender, block)) ?? 0
    if (nonce >= taken) return `nonce ${nonce} of ${sender} was not taken at block ${block}`
  }
  return undefined
}
