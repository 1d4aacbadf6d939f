import type { FailureCode } from '../../model/outcome.ts'
import type { Op, Swap } from '../../model/swap.ts'
import type { LockRef, LockState } from '../chain.ts'
import type { SolanaBlock } from './blocks.ts'
import { readBlockHeight } from './heads.ts'
import { type Creation, findEach, type MarkerRef } from './marker-book.ts'
import type { SolanaParts } from './parts.ts'
import { readRecipient } from './recipient.ts'
import { simulate } from './simulate.ts'

type Kind = 'input' | 'exit'

export function inputRef(parts: SolanaParts, op: Op): MarkerRef {
  return refOf(parts, 'input', op)
}

export function exitRef(parts: SolanaParts, op: Op): MarkerRef {
  return refOf(parts, 'exit', op)
}

function refOf({ settings }: SolanaParts, kind: Kind, op: { hash: string; locker: string }): MarkerRef {
  return { kind, id: op.hash, base: kind === 'input' ? op.locker : settings.vaults.intake }
}

/** An input is in the intake vault from its own transaction until the one that claims or refunds it. */
export async function readLocks(
  parts: SolanaParts,
  ops: readonly LockRef[],
  { commitment, number }: Pick<SolanaBlock, 'commitment' | 'number'>,
  faults?: unknown[],
): Promise<Map<string, LockState>> {
  const inventory = await parts.facts.inventoryAccounts()
  const find = (kind: Kind, of: readonly LockRef[]) => {
    const refs = new Map(of.map((op) => [op, refOf(parts, kind, op)]))
    return findEach(parts.markers, refs, { commitment, minContextSlot: number }, faults)
  }
  const inputs = await find('input', ops)
  const taken = ops.filter((op) => inputs.get(op))
  const exits = await find('exit', taken)
  const states = new Map<string, LockState>()
  for (const [op, input] of inputs) if (!input) states.set(op.hash, 'none')
  for (const [op, exit] of exits) states.set(op.hash, exit ? exitState(inventory, exit) : 'locked')
  return states
}

const exitState = (inventory: ReadonlySet<string>, { paidTo }: Creation): LockState =>
  inventory.has(paidTo) ? 'claimed' : 'refunded'

/** Simulates the signed transaction on the newest confirmed state before the service adds its signature. */
export async function findObstacle(
  { client }: SolanaParts,
  { op, signature, lastValid }: Swap,
): Promise<FailureCode | undefined> {
  const { kind } = await simulate(client, {
    raw: signature,
    replaceBlockhash: false,
    minContextSlot: op.walletBlock,
  })
  if (kind === 'ok') return undefined
  if (kind === 'blockhash') {
    if ((await readBlockHeight(client)) > (lastValid ?? 0n)) return 'OPERATION_EXPIRED'
    throw new Error('The node does not know a valid blockhash')
  }
  if (kind === 'other') throw new Error('The input cannot be taken now')
  return 'INPUT_UNAVAILABLE'
}

/** A refund never creates the wallet's account: its owner could close it again each time to earn the rent. */
export async function canRefund({ client, facts }: SolanaParts, { op }: Swap): Promise<boolean> {
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(op.inputToken)])
  const wallet = { recipient: op.wallet, token, amount: op.inputAmount, rent }
  return (await readRecipient(client, wallet)).kind === 'ready'
}
