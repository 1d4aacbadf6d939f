import { type DecodedPayout, decodeInputAccount } from '@geoswap/solana-escrow'
import { collectError } from '../../swap/group.ts'
import type { FailureCode } from '../../swap/lifecycle.ts'
import { isPayment, type Op, type Swap } from '../../swap/swap.ts'
import type { LockRef, LockState } from '../chain.ts'
import { NodeSilence } from '../nodes/agree.ts'
import { readAccounts, toTokenAccount } from './accounts.ts'
import { readBlockHeight, type SolanaBlock } from './heads.ts'
import { findInHistory, type Landing, readLandings } from './history.ts'
import { isInputOf, readInputWire } from './input.ts'
import { isPaymentOver, withAccount } from './paid-input.ts'
import type { SolanaParts } from './parts.ts'
import { readRecipient } from './recipient.ts'
import { simulate } from './simulate.ts'
import { readTransaction, type Transaction } from './transaction.ts'

/** The claim or refund by which an input left its account. */
export type Exit = Landing & { kind: 'claimed' | 'refunded' }

const kinds = { claim: 'claimed', refund: 'refunded' } as const

/**
 * Finds the exit of an input that is not in its account; undefined if it never came. Reads the recorded transactions
 * first: strangers can lengthen a history, but not the record.
 */
export async function findExit(
  parts: SolanaParts,
  op: LockRef,
  { commitment, number: minContextSlot }: Pick<SolanaBlock, 'commitment' | 'number'>,
  signed: readonly string[] = [],
): Promise<Exit | undefined> {
  const { client, settings, addresses } = parts
  const { program } = settings
  const recorded = await findRecordedExit(parts, op, { commitment }, signed)
  if (recorded) return recorded
  const address = await addresses.inputOf(op)
  const at = { step: 'exit', address, commitment, minContextSlot, program } as const
  const found = await findInHistory(client.agreed, at, async (transaction) => {
    const exit = exitIn(transaction, address, op)
    if (exit) return exit
    return (await isInputOf(parts, op, transaction)) ? 'locked' : undefined
  })
  // It landed after its account was read, or a node lacks the exit.
  if (found === 'locked') throw new Error(`The input of ${op.hash} changed while it was read`)
  return found
}

/** The exit among recorded transactions. It is one whatever its account holds since: anybody can fill that again. */
export async function findRecordedExit(
  { client, settings, addresses }: SolanaParts,
  op: LockRef,
  { commitment }: Pick<SolanaBlock, 'commitment'>,
  signed: readonly string[] = [],
): Promise<Exit | undefined> {
  if (signed.length === 0) return undefined
  const address = await addresses.inputOf(op)
  for (const txHash of signed) {
    const query = { txHash, commitment, program: settings.program }
    const transaction = await readTransaction(client.agreed, query)
    const exit = transaction && exitIn(transaction, address, op)
    if (exit) return exit
  }
  return undefined
}

/** A refund of less is that of what a claim left, or of a stranger's gift. */
function exitIn(
  { escrow, tokens, txHash, slot }: Transaction,
  input: string,
  { inputAmount }: LockRef,
): Exit | undefined {
  const held = tokens.find(({ account }) => account === input)
  if (held && held.before < inputAmount) return undefined
  const payout = escrow.find(
    (each): each is DecodedPayout =>
      (each.kind === 'claim' || each.kind === 'refund') && each.source === input,
  )
  return payout && { txHash, slot, kind: kinds[payout.kind] }
}

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

/** The transaction that took an input, from the history of its account. */
export async function searchInput(
  parts: SolanaParts,
  op: LockRef,
  { commitment, number: minContextSlot }: At,
): Promise<Landing | undefined> {
  const { client, settings, addresses } = parts
  const { program } = settings
  const address = await addresses.inputOf(op)
  const query = { step: 'input', commitment, minContextSlot, program, address } as const
  return findInHistory(client.agreed, query, async (transaction) => {
    const { txHash, slot } = transaction
    return (await isInputOf(parts, op, transaction)) ? { txHash, slot } : undefined
  })
}

/**
 * Judged by transactions, since anybody can fill the account: an input is locked by the one that its wallet signed, and
 * left by a claim or a refund. The account tells only whose histories to read.
 */
export async function readLocks(
  parts: SolanaParts,
  ops: readonly LockRef[],
  at: At,
  faults?: unknown[],
): Promise<Map<string, LockState>> {
  const states = new Map<string, LockState>()
  const hashes = ops.map(({ hash }) => hash)
  const [held, exits, locks] = await Promise.all([
    findHeld(parts, ops, at),
    parts.findSigned('exit', hashes),
    parts.findSigned('input', hashes),
  ])
  const taken = [...held].flatMap(({ hash }) => locks.get(hash) ?? [])
  const landed = await readLandings(parts.client.agreed, taken, at.commitment)
  const isTaken = async (op: LockRef) =>
    locks.get(op.hash)?.some((txHash) => landed.has(txHash)) === true ||
    (await searchInput(parts, op, at)) !== undefined
  const look = async (op: LockRef): Promise<LockState> => {
    const signed = exits.get(op.hash)
    if (!held.has(op)) return (await findExit(parts, op, at, signed))?.kind ?? 'none'
    const exit = await findRecordedExit(parts, op, at, signed)
    if (exit) return exit.kind
    return (await isTaken(op)) ? 'locked' : 'none'
  }
  const note = async (op: LockRef) => void states.set(op.hash, await look(op))
  await Promise.all(ops.map((op) => collectError(faults, () => note(op))))
  return states
}

/**
 * Simulates the signed transaction on the newest confirmed state before the service adds its signature. A payment is
 * simulated with its account, until that exists.
 */
export async function findObstacle(
  parts: SolanaParts,
  { op, signature, lastValid }: Swap,
): Promise<FailureCode | undefined> {
  const { client } = parts
  const { kind } = await simulate(client, {
    raw: isPayment(op) ? await toSimulated(parts, op, signature) : signature,
    replaceBlockhash: false,
    minContextSlot: op.walletBlock,
  })
  if (kind === 'ok') return undefined
  if (kind === 'blockhash') {
    if ((await readBlockHeight(client)) > (lastValid ?? 0n)) return 'OPERATION_EXPIRED'
    // Its payer chose the blockhash, perhaps one that was about to expire.
    if (isPayment(op) && (await isPaymentOver(parts, signature, lastValid ?? 0n))) return 'OPERATION_EXPIRED'
    throw new NodeSilence('The node does not know a valid blockhash')
  }
  if (kind === 'other') throw new Error('The input cannot be taken now')
  return 'INPUT_UNAVAILABLE'
}

async function toSimulated(parts: SolanaParts, op: Op, signature: string): Promise<string> {
  const { client, settings, addresses } = parts
  const [account] = await readAccounts(client, { addresses: [await addresses.inputOf(op)] })
  if (account && toTokenAccount(account)) return signature
  const read = await readInputWire(settings, signature)
  if (!read) throw new TypeError('The stored signature is no payment')
  return withAccount(parts, read.terms)
}

/** A refund never creates the wallet's account: its owner could close it again each time to earn the rent. */
export async function canRefund({ client, facts }: SolanaParts, { op }: { op: Op }): Promise<boolean> {
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(op.inputToken)])
  const wallet = { recipient: op.wallet, token, amount: op.inputAmount, rent }
  return (await readRecipient(client, wallet)).kind === 'ready'
}
