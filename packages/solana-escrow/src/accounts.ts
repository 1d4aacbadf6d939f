import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getI64Decoder,
  getProgramDerivedAddress,
  getStructDecoder,
  getU64Decoder,
  type ProgramDerivedAddress,
  type ReadonlyUint8Array,
} from '@solana/kit'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  hashTerms,
  type OpId,
  opIdEncoder,
  type Terms,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  type Token,
  toHeldToken,
} from './terms.ts'

// A swap has up to three: authority and account of its input, and marker of its delivery.
const MAX_KNOWN = 30_000
const known = new Map<string, Promise<ProgramDerivedAddress>>()

/**
 * Finds the address once: a search takes milliseconds, and each step of a swap needs the same ones. Forgets the oldest
 * of too many.
 */
function findOnce(name: string, find: () => Promise<ProgramDerivedAddress>): Promise<ProgramDerivedAddress> {
  const before = known.get(name)
  if (before) return before
  const found = find()
  known.set(name, found)
  found.catch(() => known.delete(name))
  const [oldest] = known.keys()
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  return found
}

/** Owns the token account that holds the input. Nobody has its key: the program signs for it. */
export async function findAuthority(program: Address, terms: Terms): Promise<ProgramDerivedAddress> {
  const { wallet, vault, attester, rentReceiver, opId, refundDeadline, amount } = terms
  const roles = [wallet, vault, attester, rentReceiver]
  const name = ['authority', program, ...roles, opId, refundDeadline, amount].join()
  return findOnce(name, async () =>
    getProgramDerivedAddress({ programAddress: program, seeds: [await hashTerms(terms)] }),
  )
}

export type MarkerOf = { vault: Address; opId: OpId }

/**
 * Exists once `vault` delivered the op, until it is swept. Only a delivery that the vault signed creates it, and only
 * at the address of the first bump that gives one.
 */
export async function findMarker(
  program: Address,
  { vault, opId }: MarkerOf,
): Promise<ProgramDerivedAddress> {
  const seeds = [getAddressEncoder().encode(vault), opIdEncoder.encode(opId)]
  return findOnce(['marker', program, vault, opId].join(), () =>
    getProgramDerivedAddress({ programAddress: program, seeds }),
  )
}

/** The associated token account; for the native coin that of wrapped SOL. */
export async function findTokenAccount(
  owner: Address,
  token: Pick<Token, 'mint' | 'program'>,
): Promise<Address> {
  const { mint, program } = toHeldToken(token)
  const [found] = await findOnce(['token account', owner, program, mint].join(), () => {
    const encoder = getAddressEncoder()
    const seeds = [encoder.encode(owner), encoder.encode(program), encoder.encode(mint)]
    return getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds })
  })
  return found
}

/** The account that holds the input between lock and claim or refund. */
export async function findInputAccount(program: Address, { terms, token }: { terms: Terms; token: Token }) {
  const [authority] = await findAuthority(program, terms)
  return findTokenAccount(authority, token)
}

/** An account as a node returns it. `programAddress` owns it. */
export type ChainAccount = { programAddress: Address; data: ReadonlyUint8Array }

/** A delivery that happened: who was paid how much of which token. */
export type Marker = {
  /** Paid the rent and gets it back. */
  payer: Address
  fillDeadline: bigint
  amount: bigint
  /** The System program for the native coin. */
  mint: Address
  /** The owner of the token account that was paid. */
  recipient: Address
}

export const MARKER_BYTES = 112
/** For so long after `fillDeadline` a marker can still be read by those who attest. */
export const SWEEP_MARGIN_SECONDS = 172_800n

const markerDecoder = getStructDecoder([
  ['payer', getAddressDecoder()],
  ['fillDeadline', getI64Decoder()],
  ['amount', getU64Decoder()],
  ['mint', getAddressDecoder()],
  ['recipient', getAddressDecoder()],
])

/** Undefined if the account is not a marker of `program`; at a marker's address that means: not delivered, or swept. */
export function decodeMarker(program: Address, { programAddress, data }: ChainAccount): Marker | undefined {
  if (programAddress !== program || data.length !== MARKER_BYTES) return undefined
  return markerDecoder.decode(data)
}

/**
 * From now on the absence of a marker proves nothing: it may have been swept. A delivery can no longer happen either.
 */
export function isSweepable({ fillDeadline }: Pick<Marker, 'fillDeadline'>, chainSeconds: bigint): boolean {
  return chainSeconds - SWEEP_MARGIN_SECONDS > fillDeadline
}

/** A token account that holds an input. */
export type InputAccount = {
  mint: Address
  owner: Address
  amount: bigint
  isFrozen: boolean
  /** Wrapped SOL: paid out as SOL. */
  isNative: boolean
}

const TOKEN_ACCOUNT_BYTES = 165
const STATE_OFFSET = 108
const NATIVE_OFFSET = 109
const FROZEN = 2

const tokenAccountDecoder = getStructDecoder([
  ['mint', getAddressDecoder()],
  ['owner', getAddressDecoder()],
  ['amount', getU64Decoder()],
])

/** Undefined if the account is no initialized token account of Token or Token-2022. */
export function decodeInputAccount({ programAddress, data }: ChainAccount): InputAccount | undefined {
  if (programAddress !== TOKEN_PROGRAM && programAddress !== TOKEN_2022_PROGRAM) return undefined
  if (data.length < TOKEN_ACCOUNT_BYTES || !data[STATE_OFFSET]) return undefined
  return {
    ...tokenAccountDecoder.decode(data),
    isFrozen: data[STATE_OFFSET] === FROZEN,
    isNative: data[NATIVE_OFFSET] === 1,
  }
}
