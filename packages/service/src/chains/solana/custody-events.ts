import { type DecodedInstruction, type DecodedPayout, WRAPPED_SOL } from '@geoswap/solana-escrow'
import type { CustodyEvent } from '../custody.ts'
import { isNative, NATIVE_TOKEN, type Token } from './accounts.ts'
import { type InputTerms, readInputTerms } from './input.ts'
import { readOpened } from './paid-input.ts'
import type { SolanaChainSettings } from './settings.ts'
import type { Transaction } from './transaction.ts'

export type VaultAccount = { address: string; token: Token }
export type Books = { vaults: readonly VaultAccount[]; payers: ReadonlySet<string> }

type Unplaced<T> = T extends unknown ? Omit<T, 'txHash' | 'block' | 'part'> : never
type Move = Unplaced<CustodyEvent>
/** Rent that a fee payer paid for an account, or got back if negative. */
type Rent = { payer: string; lamports: bigint }

/**
 * The effects of one transaction on inputs, vault and fee payers. They add up to the changes of all balances, to the
 * lamport.
 */
export async function eventsOf(
  settings: SolanaChainSettings,
  books: Books,
  transaction: Transaction,
): Promise<CustodyEvent[]> {
  const ours = transaction.escrow.filter((each) => isOurs(settings, books, each))
  const input = await lockIn(settings, books, transaction)
  const op = input ? `0x${input.opId}` : ours.map(opOf).find((each) => each !== undefined)
  const steps = [...(input ? [locked(input)] : []), ...ours.flatMap((each) => stepOf(transaction, each))]
  const rents = rentsOf(transaction, ours, input)
  const moves = [
    ...steps,
    ...unexplained(books, transaction, steps),
    ...costs(books, transaction, rents).map((cost) => (op === undefined ? cost : { ...cost, op })),
  ]
  const { txHash, slot: block } = transaction
  return moves.map((move, part) => ({ txHash, block, part, ...move }))
}

/** Anyone can use the program for escrows and deliveries of their own. */
function isOurs({ vault }: SolanaChainSettings, { payers }: Books, each: DecodedInstruction): boolean {
  if (each.kind === 'sweep') return payers.has(each.payer)
  return each.kind === 'deliver'
    ? each.vault === vault
    : each.terms.vault === vault && payers.has(each.terms.rentReceiver)
}

async function lockIn(
  settings: SolanaChainSettings,
  { payers }: Books,
  transaction: Transaction,
): Promise<InputTerms | undefined> {
  if (transaction.failed || !payers.has(transaction.signers[0] ?? '')) return undefined
  return readInputTerms(settings, transaction)
}

function opOf(each: DecodedInstruction): string | undefined {
  if (each.kind === 'sweep') return undefined
  return each.kind === 'deliver' ? each.opId : each.terms.opId
}

const locked = ({ opId, token, amount }: InputTerms): Move => ({
  kind: 'locked',
  op: `0x${opId}`,
  token,
  amount,
})

function stepOf(transaction: Transaction, each: DecodedInstruction): Move[] {
  if (each.kind === 'sweep') return []
  if (each.kind === 'deliver')
    return [{ kind: 'delivered', delivery: each.opId, token: each.mint, amount: each.amount }]
  const kind = each.kind === 'claim' ? 'claimed' : 'refunded'
  const held = heldBefore(transaction, each)
  // A claim pays no more than the amount of the terms.
  const amount = each.kind === 'claim' && held > each.terms.amount ? each.terms.amount : held
  // A second call may close an account that the first has emptied.
  return amount > 0n ? [{ kind, op: each.terms.opId, token: each.mint, amount }] : []
}

const heldBefore = ({ tokens }: Transaction, { source }: DecodedPayout): bigint =>
  tokens.find(({ account }) => account === source)?.before ?? 0n

/** Changes of the vault beyond the steps of swaps. */
function unexplained({ vaults }: Books, transaction: Transaction, steps: readonly Move[]): Move[] {
  return vaults.flatMap(({ address, token: { mint } }): Move[] => {
    const expected = steps.reduce((sum, step) => sum + vaultChange(step, mint), 0n)
    const amount = changeOf(transaction, address, mint) - expected
    if (amount === 0n) return []
    return amount > 0n
      ? [{ kind: 'received', place: 'vault', token: mint, amount }]
      : [{ kind: 'left', place: 'vault', token: mint, amount: -amount }]
  })
}

function vaultChange(step: Move, mint: string): bigint {
  if (step.kind === 'claimed' && step.token === mint) return step.amount ?? 0n
  return step.kind === 'delivered' && step.token === mint ? -step.amount : 0n
}

function changeOf({ lamports, tokens }: Transaction, address: string, mint: string): bigint {
  const { before, after } = (isNative({ mint })
    ? lamports.get(address)
    : tokens.find((change) => change.account === address && change.mint === mint)) ?? {
    before: 0n,
    after: 0n,
  }
  return after - before
}

function rentsOf(
  { lamports, tokens, ...message }: Transaction,
  ours: readonly DecodedInstruction[],
  input: InputTerms | undefined,
): Rent[] {
  const growthOf = (account: string) => {
    const { before, after } = lamports.get(account) ?? { before: 0n, after: 0n }
    return after - before
  }
  /** The lamports of an account that are not a wrapped amount. */
  const rentOf = (account: string) => {
    const held = tokens.find((change) => change.account === account)
    const isWrapped = held?.mint === WRAPPED_SOL
    return growthOf(account) - (isWrapped ? held.after - held.before : 0n)
  }
  const ofInput = input ? [{ payer: input.feePayer, lamports: rentOf(input.destination) }] : []
  const opened = message.failed ? undefined : readOpened(message)
  return [
    ...ofInput,
    ...(opened ? [{ payer: opened.payer, lamports: rentOf(opened.account) }] : []),
    ...ours.map((each): Rent => {
      if (each.kind === 'sweep' || each.kind === 'deliver')
        return { payer: each.payer, lamports: growthOf(each.marker) }
      return { payer: each.terms.rentReceiver, lamports: rentOf(each.source) }
    }),
  ]
}

/** The losses of each fee payer: rent that returns, and fees with everything else. */
function costs({ payers }: Books, { lamports, signers }: Transaction, rents: readonly Rent[]): Move[] {
  const token = NATIVE_TOKEN.mint
  return [...payers].flatMap((payer): Move[] => {
    const { before, after } = lamports.get(payer) ?? { before: 0n, after: 0n }
    const rent = rents.reduce((sum, each) => (each.payer === payer ? sum + each.lamports : sum), 0n)
    const spent = before - after - rent
    const isSpent = spent > 0n && signers[0] === payer
    return [
      ...(rent > 0n ? [{ kind: 'rentPaid' as const, token, amount: rent }] : []),
      ...(rent < 0n ? [{ kind: 'rentReturned' as const, token, amount: -rent }] : []),
      ...(isSpent ? [{ kind: 'spent' as const, token, amount: spent }] : []),
    ]
  })
}
