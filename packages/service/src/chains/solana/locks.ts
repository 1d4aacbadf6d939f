import type { FailureCode } from '../../model/outcome.ts'
import type { Op, Swap } from '../../model/swap.ts'
import type { Landed, LockRef, LockState, Refunded } from '../chain.ts'
import type { SolanaBlock } from './blocks.ts'
import { readBlockHeight } from './heads.ts'
import type { MarkerRef } from './marker-book.ts'
import type { SolanaParts } from './parts.ts'
import { readRecipient } from './recipient.ts'
import { simulate } from './simulate.ts'

type Kind = 'input' | 'exit'

function refOf({ settings }: SolanaParts, kind: Kind, op: { hash: string; locker: string }): MarkerRef {
  return { kind, id: op.hash, base: kind === 'input' ? op.locker : settings.vaults.intake }
}

/** An input is in the intake vault from its own transaction until one that claims or refunds it. */
export async function readLocks(
  parts: SolanaParts,
  ops: readonly LockRef[],
  { commitment, number }: Pick<SolanaBlock, 'commitment' | 'number'>,
): Promise<Map<string, LockState>> {
  const inventory = await parts.facts.inventoryAccounts()
  const find = async (kind: Kind, of: readonly LockRef[]) => {
    const refs = of.map((op) => refOf(parts, kind, op))
    return parts.markers.findCreations(refs, { commitment, minContextSlot: number })
  }
  const inputs = await find('input', ops)
  const taken = ops.filter((_, index) => inputs[index])
  const exits = await find('exit', taken)
  const states = new Map<string, LockState>(ops.map((op) => [op.hash, 'none']))
  for (const [index, op] of taken.entries()) {
    const exit = exits[index]
    if (!exit) states.set(op.hash, 'locked')
    else states.set(op.hash, inventory.has(exit.paidTo) ? 'claimed' : 'refunded')
  }
  return states
}

/** Asked once a lock was read: that has looked it up. */
export async function findLock(parts: SolanaParts, op: Op): Promise<Landed | undefined> {
  const ref = refOf(parts, 'input', op)
  const found =
    parts.markers.recall(ref) ?? (await parts.markers.findCreations([ref], { commitment: 'confirmed' }))[0]
  return found && { txHash: found.txHash, block: found.slot }
}

export async function findRefund(parts: SolanaParts, op: Op): Promise<Refunded | undefined> {
  const [found] = await parts.markers.findCreations([refOf(parts, 'exit', op)], { commitment: 'finalized' })
  const isClaim = found && (await parts.facts.inventoryAccounts()).has(found.paidTo)
  return found && !isClaim ? { txHash: found.txHash, block: found.slot, credited: false } : undefined
}

/** The signed transaction, tried on the newest confirmed state before the service adds its own signature. */
export async function findObstacle(
  { client }: SolanaParts,
  { signature, lastValid }: Swap,
): Promise<FailureCode | undefined> {
  const { kind } = await simulate(client, { raw: signature, replaceBlockhash: false })
  if (kind === 'ok') return undefined
  if (kind === 'blockhash') {
    if ((await readBlockHeight(client)) > (lastValid ?? 0n)) return 'OPERATION_EXPIRED'
    throw new Error('The node does not know a blockhash that is still valid')
  }
  if (kind === 'other') throw new Error('An input cannot be taken now')
  return 'INPUT_UNAVAILABLE'
}

/** The wallet's own account is never made anew for a refund: closing it again would earn its rent each time. */
export async function canRefund({ client, facts }: SolanaParts, { op }: Swap): Promise<boolean> {
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(op.inputToken)])
  const wallet = { recipient: op.wallet, token, amount: op.inputAmount, rent }
  return (await readRecipient(client, wallet)).kind === 'ready'
}
