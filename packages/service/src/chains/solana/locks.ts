import { decodeInputAccount } from '@geoswap/solana-escrow'
import { collectError } from '../../model/collect-error.ts'
import type { FailureCode } from '../../model/outcome.ts'
import type { Op, Swap } from '../../model/swap.ts'
import type { LockRef, LockState } from '../chain.ts'
import { readAccounts } from './accounts.ts'
import type { SolanaBlock } from './blocks.ts'
import { findExit } from './exits.ts'
import { readBlockHeight } from './heads.ts'
import type { SolanaParts } from './parts.ts'
import { readRecipient } from './recipient.ts'
import { simulate } from './simulate.ts'

type At = Pick<SolanaBlock, 'commitment' | 'number'>

/** The ops whose input is in its escrow account at this block. */
export async function findHeld<T extends LockRef>(
  { client, addresses }: SolanaParts,
  ops: readonly T[],
  { commitment, number: minContextSlot }: At,
): Promise<Set<T>> {
  const inputs = await Promise.all(ops.map((op) => addresses.inputOf(op)))
  const accounts = await readAccounts(client.agreed, { addresses: inputs, commitment, minContextSlot })
  return new Set(
    ops.filter(({ inputAmount }, index) => {
      const account = accounts[index]
      const held = account && decodeInputAccount({ programAddress: account.owner, data: account.data })
      return held !== undefined && held.amount >= inputAmount
    }),
  )
}

/** An input that is not in its account never came, or left it by a claim or a refund. */
export async function readLocks(
  parts: SolanaParts,
  ops: readonly LockRef[],
  at: At,
  faults?: unknown[],
): Promise<Map<string, LockState>> {
  const held = await findHeld(parts, ops, at)
  const states = new Map<string, LockState>([...held].map(({ hash }) => [hash, 'locked']))
  const gone = ops.filter((op) => !held.has(op))
  if (gone.length === 0) return states
  const signed = await parts.findSigned(
    'exit',
    gone.map(({ hash }) => hash),
  )
  const look = async (op: LockRef) => {
    const exit = await findExit(parts, op, at, signed.get(op.hash))
    states.set(op.hash, exit?.kind ?? 'none')
  }
  await Promise.all(gone.map((op) => collectError(faults, () => look(op))))
  return states
}

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
export async function canRefund({ client, facts }: SolanaParts, { op }: { op: Op }): Promise<boolean> {
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(op.inputToken)])
  const wallet = { recipient: op.wallet, token, amount: op.inputAmount, rent }
  return (await readRecipient(client, wallet)).kind === 'ready'
}
