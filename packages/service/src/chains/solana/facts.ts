import {
  findInputAccount,
  findMarker,
  MARKER_BYTES,
  type OpId,
  type Token as ProgramToken,
  type Terms,
} from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import { createRecent } from '../../async/cache.ts'
import { smallest } from '../../swap/amount.ts'
import type { Op } from '../../swap/swap.ts'
import { readMint, TOKEN_2022_PROGRAM_ADDRESS, type Token } from './accounts.ts'
import { toOpId } from './bytes.ts'
import type { SolanaClient } from './client.ts'
import type { SolanaChainSettings } from './settings.ts'

/** Rent minimums of accounts. */
export type Rent = {
  /** For an account without data, such as a wallet. */
  emptyLamports: bigint
  tokenAccountLamports: bigint
  token2022AccountLamports: bigint
  /** For the marker of a delivery. */
  markerLamports: bigint
}

const TOKEN_ACCOUNT_BYTES = 165n
// Token-2022 gives an associated account one extension, `immutableOwner`: 1 byte of kind, 4 of header. Mints whose
// accounts need more are refused.
const TOKEN_2022_ACCOUNT_BYTES = 170n

export async function readRent({ rpc }: SolanaClient): Promise<Rent> {
  const [emptyLamports, tokenAccountLamports, token2022AccountLamports, markerLamports] = await Promise.all(
    [0n, TOKEN_ACCOUNT_BYTES, TOKEN_2022_ACCOUNT_BYTES, BigInt(MARKER_BYTES)].map((bytes) =>
      rpc.getMinimumBalanceForRentExemption(bytes).send(),
    ),
  )
  if (!emptyLamports || !tokenAccountLamports || !token2022AccountLamports || !markerLamports)
    throw new Error('No rent')
  return { emptyLamports, tokenAccountLamports, token2022AccountLamports, markerLamports }
}

export function tokenAccountRent(rent: Rent, { program }: Pick<Token, 'program'>): bigint {
  return program === TOKEN_2022_PROGRAM_ADDRESS ? rent.token2022AccountLamports : rent.tokenAccountLamports
}

type Query = {
  /** The accounts that our transactions write to: each has its own fee market. */
  accounts: readonly string[]
  floor: bigint
  cap: bigint
}

/**
 * The price that three of four recent blocks would have accepted, in millionths of a lamport per unit, within bounds.
 */
export async function readPriorityPrice(
  { rpc }: SolanaClient,
  { accounts, floor, cap }: Query,
): Promise<bigint> {
  const recent = await rpc.getRecentPrioritizationFees(accounts as Address[]).send()
  const prices = recent
    .map(({ prioritizationFee }) => BigInt(prioritizationFee))
    .sort((a, b) => Number(a - b))
  const price = prices[Math.floor(prices.length * 0.75)] ?? floor
  if (price < floor) return floor
  return price > cap ? cap : price
}

// A claim that comes too late loses the whole input.
const URGENT = 100n
const URGENT_SECONDS = 3_600

type Bounds = Pick<Query, 'cap'>

/** The most that any transaction pays per unit. */
export const mostOf = ({ cap }: Bounds): bigint => cap * URGENT

/** The most that a claim pays per unit: in the last hour before anyone may refund its input, it grows a hundredfold. */
export function claimBound({ cap }: Bounds, refundDeadline: number, seconds: number): bigint {
  const passed = URGENT_SECONDS - (refundDeadline - seconds)
  if (passed <= 0) return cap
  const share = BigInt(Math.min(Math.floor(passed), URGENT_SECONDS))
  return cap + (cap * (URGENT - 1n) * share) / BigInt(URGENT_SECONDS)
}

export type Facts = {
  rent(): Promise<Rent>
  tokenOf(mint: string): Promise<Token>
  /** Undefined if there is no such mint. */
  findToken(mint: string): Promise<Token | undefined>
  /** Millionths of a lamport per compute unit, a few seconds old at most. */
  priorityPrice(): Promise<bigint>
  /** The same within another upper bound. */
  priceUpTo(cap: bigint): Promise<bigint>
  /**
   * The compute limit of transactions of one shape, measured once a minute. Equal shapes use equal units, and another
   * build of a program may need more.
   */
  unitsOf(shape: string, measure: () => Promise<number | undefined>): Promise<number | undefined>
}

const FOREVER = Number.POSITIVE_INFINITY
const PRICE_MS = 5_000
const UNITS_MS = 60_000

/** Caches facts that rarely change: read once or at intervals; failed readings are retried. */
export function createFacts(
  client: SolanaClient,
  settings: Pick<SolanaChainSettings, 'vault' | 'feePayers' | 'priorityPrice'>,
): Facts {
  const { vault, feePayers, priorityPrice: bounds } = settings
  const tokens = new Map<string, Token>()
  const units = new Map<string, { at: number; limit: number }>()
  const findToken = async (mint: string) => {
    const token = tokens.get(mint) ?? (await readMint(client, mint))
    if (token) tokens.set(mint, token)
    return token
  }
  const accounts = [vault, ...Object.values(feePayers)]
  const { floor } = bounds
  const recent = createRecent(PRICE_MS, () =>
    readPriorityPrice(client, { accounts, floor, cap: mostOf(bounds) }),
  )
  const priceUpTo = async (cap: bigint) => smallest(await recent.read(), cap)
  return {
    findToken,
    async tokenOf(mint) {
      const token = await findToken(mint)
      if (!token) throw new Error(`No mint at ${mint}`)
      return token
    },
    rent: createRecent(FOREVER, () => readRent(client)).read,
    priorityPrice: () => priceUpTo(bounds.cap),
    priceUpTo,
    async unitsOf(shape, measure) {
      const known = units.get(shape)
      if (known && Date.now() - known.at < UNITS_MS) return known.limit
      const limit = await measure()
      if (limit !== undefined) units.set(shape, { at: Date.now(), limit })
      return limit
    },
  }
}

type Roles = Pick<SolanaChainSettings, 'vault' | 'attester'>
export type LockedOp = Pick<Op, 'hash' | 'wallet' | 'locker' | 'refundDeadline' | 'inputAmount'>

/** The terms of an op's escrow. Its locker paid for the account and gets the rent back. */
export function termsOf({ vault, attester }: Roles, op: LockedOp): Terms {
  const roles = [op.wallet, vault, attester, op.locker]
  // The program takes each account once.
  if (new Set(roles).size < roles.length) throw new Error('Two roles of an escrow have one address')
  return {
    wallet: op.wallet as Address,
    vault: vault as Address,
    attester: attester as Address,
    rentReceiver: op.locker as Address,
    opId: opIdOf(op.hash),
    refundDeadline: BigInt(op.refundDeadline),
    amount: op.inputAmount,
  }
}

export const opIdOf = (hash: string): OpId => `0x${toOpId(hash)}`

export const toProgramToken = (token: Token) => token as ProgramToken

/** The addresses of inputs and markers. */
export type EscrowAddresses = {
  inputOf(op: LockedOp & Pick<Op, 'inputToken'>): Promise<string>
  markerOf(deliveryHash: string): Promise<string>
}

export function createEscrowAddresses(
  settings: SolanaChainSettings,
  { tokenOf }: Pick<Facts, 'tokenOf'>,
): EscrowAddresses {
  const program = settings.program as Address
  return {
    async inputOf(op) {
      const token = toProgramToken(await tokenOf(op.inputToken))
      return findInputAccount(program, { terms: termsOf(settings, op), token })
    },
    async markerOf(deliveryHash) {
      const vault = settings.vault as Address
      const [marker] = await findMarker(program, { vault, opId: opIdOf(deliveryHash) })
      return marker
    },
  }
}
