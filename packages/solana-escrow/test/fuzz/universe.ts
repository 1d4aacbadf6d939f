import type { Address } from '@solana/kit'
import {
  findAuthority,
  findMarker,
  findTokenAccount,
  MARKER_BYTES,
  SWEEP_MARGIN_SECONDS,
} from '../../src/accounts.ts'
import type { Order } from '../../src/instructions.ts'
import {
  NATIVE_TOKEN,
  type OpId,
  SYSTEM_PROGRAM,
  type Terms,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  type Token,
  toHeldToken,
  WRAPPED_SOL,
} from '../../src/terms.ts'
import { type Chain, type ChainAccount, newAddress } from '../chain.ts'
import { derive } from '../derive.ts'
import { opIdOf } from '../order.ts'
import { createMint, type Holding, tokenAccountData } from '../tokens.ts'
import { addressOf, bytesOf } from '../transaction.ts'

export const NOW = 1_800_000_000n
const FUNDS = 50_000_000_000n
/** In every account of an authority. */
const HELD = 3_000_000n
const SMALL = 1_000_000n
/** The least amount of deliveries. */
export const LEAST = 1_500_000n

type Place = { terms: Terms; authority: Address; bump: number }
/** `others`: addresses of the same vault and op by other bumps. */
type Slot = { vault: Address; opId: OpId; order: Order; token: Token; marker: Address; others: Address[] }

export type Universe = {
  chain: Chain
  accounts: Map<Address, ChainAccount>
  programs: Set<Address>
  /** Every account that the fuzzer may put in place of another. */
  pool: Address[]
  tokens: Token[]
  places: Place[]
  slots: Slot[]
  /** Markers that exist, with the payer they name. */
  markers: { marker: Address; payer: Address }[]
  payer: Address
  vault: Address
  recipient: Address
  destinations: Address[]
  /** Accounts of an authority or a person that lack a property. */
  odd: Address[]
  /** Addresses that differ from a known one in a single byte. */
  twins: Map<Address, Address[]>
}

/**
 * A fixed set of accounts for all cases: genuine ones, and for each property that the program checks ones that lack
 * it.
 */
export async function createUniverse(chain: Chain): Promise<Universe> {
  const people = Array.from({ length: 7 }, newAddress) as Seven
  const [wallet, vault, attester, rentReceiver, payer, stranger, recipient] = people
  const tokens = [TOKEN_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) =>
    createMint(chain, program),
  )
  const programs = [SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, chain.program]
  const universe: Universe = {
    chain,
    accounts: new Map(),
    programs: new Set(programs),
    pool: [...programs],
    tokens: [...tokens, NATIVE_TOKEN],
    places: [],
    slots: [],
    markers: [],
    ...{ payer, vault, recipient },
    destinations: [],
    odd: [],
    twins: new Map(),
  }
  for (const address of [...programs, ...tokens.map(({ mint }) => mint), WRAPPED_SOL])
    adopt(universe, address)
  for (const person of people) put(universe, person, { lamports: FUNDS })
  // The recipient is new to the chain.
  universe.accounts.delete(recipient)
  chain.fund(recipient, 0n)
  const four = { wallet, vault, attester, rentReceiver }
  const roles = { ...four, opId: opId(1), refundDeadline: NOW, amount: HELD }
  const variants: Terms[] = [
    roles,
    { ...roles, opId: opId(2), refundDeadline: NOW - 1n, amount: HELD - 400_000n },
    { ...roles, opId: opId(3), refundDeadline: -(2n ** 63n), amount: HELD + 1n },
    { ...roles, opId: opId(4), refundDeadline: 2n ** 63n - 1n },
    { ...roles, vault: attester, rentReceiver: attester, opId: opId(5) },
    { ...roles, rentReceiver: wallet, opId: opId(6), refundDeadline: NOW - 1n, amount: 1n },
    { ...roles, attester: wallet, vault: wallet, rentReceiver: wallet, opId: opId(7) },
  ]
  for (const terms of variants) await addPlace(universe, terms)
  for (const owner of people) {
    for (const token of universe.tokens) await addHolding(universe, { owner, token, amount: 7_000_000n })
  }
  await addOddAccounts(universe, { wallet, stranger })
  await addSlots(universe, { vault, stranger })
  for (const address of [...people, ...programs, ...universe.slots.map(({ marker }) => marker)]) {
    universe.twins.set(
      address,
      [0, 8, 16, 24, 31].map((byte) => twinOf(address, byte)),
    )
  }
  return universe
}

type Seven = [Address, Address, Address, Address, Address, Address, Address]

function opId(number: number): OpId {
  return `0x${number.toString(16).padStart(64, '0')}`
}

function twinOf(address: Address, byte: number): Address {
  const bytes = bytesOf(address).slice()
  bytes[byte] = (bytes[byte] ?? 0) ^ 1
  return addressOf(bytes)
}

function put(universe: Universe, address: Address, account: Partial<ChainAccount>): Address {
  const whole = { lamports: 0n, owner: SYSTEM_PROGRAM, data: new Uint8Array(), ...account }
  universe.accounts.set(address, whole)
  universe.chain.set(address, whole)
  universe.pool.push(address)
  return address
}

function adopt(universe: Universe, address: Address): void {
  const account = universe.chain.get(address)
  if (account) universe.accounts.set(address, account)
  if (!universe.pool.includes(address)) universe.pool.push(address)
}

async function addPlace(universe: Universe, terms: Terms): Promise<void> {
  const [authority, bump] = await findAuthority(universe.chain.program, terms)
  universe.places.push({ terms, authority, bump })
  // Some authorities hold lamports that strangers sent.
  if (universe.places.length % 2 === 0) put(universe, authority, { lamports: SMALL })
  else universe.pool.push(authority)
  for (const token of universe.tokens) {
    await addHolding(universe, { owner: authority, token, amount: HELD, extra: 12_345n })
  }
}

type Given = { owner: Address; token: Token; amount: bigint; extra?: bigint }

async function addHolding(universe: Universe, { owner, token, amount, extra = 0n }: Given): Promise<void> {
  const address = await findTokenAccount(owner, token)
  const { mint, program } = toHeldToken(token)
  // Token-2022 gives an associated account the extension that its owner never changes. Accounts with room after it
  // have one byte more than a multiple of eight, which the reader of accounts has to round up.
  const room = universe.destinations.length % 8 < 4 ? 0 : 7
  const tail = program === TOKEN_2022_PROGRAM ? [2, 7, 0, 0, 0, ...new Uint8Array(room)] : []
  putTokens(universe, { address, program, holding: { mint, owner, amount }, tail, extra })
  universe.destinations.push(address)
}

type PutTokens = {
  address?: Address
  program: Address
  holding: Holding
  tail?: number[]
  extra?: bigint
  change?: (data: Uint8Array) => void
}

function putTokens(universe: Universe, put_: PutTokens): Address {
  const { address = newAddress(), program, holding, tail = [], extra = 0n, change } = put_
  const rent = universe.chain.rent(165 + tail.length)
  const isNative = holding.mint === WRAPPED_SOL
  const base = tokenAccountData(isNative ? { ...holding, native: rent } : holding)
  const data = Uint8Array.from([...base, ...tail])
  change?.(data)
  return put(universe, address, {
    lamports: rent + extra + (isNative ? holding.amount : 0n),
    owner: program,
    data,
  })
}

async function addOddAccounts(
  universe: Universe,
  who: { wallet: Address; stranger: Address },
): Promise<void> {
  const { places, tokens } = universe
  const [first, , newer, native] = tokens as [Token, Token, Token, Token]
  for (const { authority } of places.slice(0, 2)) {
    const holding = { mint: first.mint, owner: authority, amount: 900n }
    const program = TOKEN_PROGRAM
    const closer = (data: Uint8Array) => {
      data[129] = 1
      data.set(bytesOf(who.stranger), 133)
    }
    const odd: PutTokens[] = [
      { program, holding: { ...holding, frozen: true } },
      { program, holding: { ...holding, amount: 0n } },
      { program, holding, change: closer },
      { program, holding, change: (data) => data.fill(0, 108, 109) },
      { program, holding, tail: [0] },
      { program: universe.chain.program, holding },
      { program: SYSTEM_PROGRAM, holding },
      { program: TOKEN_2022_PROGRAM, holding },
      { program: TOKEN_2022_PROGRAM, holding: { ...holding, mint: newer.mint }, tail: [1, 0, 0, 0, 0] },
      { program: TOKEN_2022_PROGRAM, holding: { ...holding, mint: newer.mint } },
      { program, holding: { ...holding, mint: toHeldToken(native).mint, amount: 0n }, extra: 5n },
    ]
    universe.odd.push(...odd.map((account) => putTokens(universe, account)))
    const short = tokenAccountData(holding).slice(0, 164)
    universe.odd.push(put(universe, newAddress(), { lamports: FUNDS, owner: TOKEN_PROGRAM, data: short }))
  }
  const holding = { mint: first.mint, owner: who.wallet, amount: 0n }
  for (const frozen of [true, false]) {
    universe.destinations.push(
      putTokens(universe, { program: TOKEN_PROGRAM, holding: { ...holding, frozen } }),
    )
  }
}

async function addSlots(universe: Universe, { vault, stranger }: { vault: Address; stranger: Address }) {
  const { chain, payer, tokens } = universe
  const [first, second] = tokens as [Token, Token]
  for (const token of tokens) {
    universe.pool.push((await addSlot(universe, { vault, token }))[0])
    put(universe, (await addSlot(universe, { vault, token }))[0], { lamports: SMALL })
    put(universe, (await addSlot(universe, { vault, token }))[0], { lamports: FUNDS })
    await addSlot(universe, { vault: stranger, token })
  }
  for (const fillDeadline of [NOW - 1n, NOW + 1n, -1n, 0n, 2n ** 63n - 1n, 2n ** 63n]) {
    await addSlot(universe, {
      vault,
      token: first,
      order: { fillDeadline: BigInt.asUintN(64, fillDeadline) },
    })
  }
  for (const bits of [64n, 128n, 192n])
    await addSlot(universe, { vault, token: second, order: { minOutput: 1n << bits } })
  const deadlines = [
    NOW,
    NOW - SWEEP_MARGIN_SECONDS,
    NOW - SWEEP_MARGIN_SECONDS - 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ]
  for (const [index, fillDeadline] of deadlines.entries()) {
    const [existing] = await addSlot(universe, { vault, token: first })
    const data = new Uint8Array(MARKER_BYTES)
    data.set(bytesOf(index === 4 ? existing : payer))
    new DataView(data.buffer).setBigInt64(32, fillDeadline, true)
    const lamports = chain.rent(MARKER_BYTES) + BigInt(index)
    put(universe, existing, { lamports, owner: chain.program, data })
    universe.markers.push({ marker: existing, payer: index === 4 ? existing : payer })
  }
}

type Ordered = { vault: Address; token: Token; order?: Partial<Order> }

/** An op of its own. */
async function addSlot(universe: Universe, { vault, token, order: change }: Ordered): Promise<[Address]> {
  const { chain, slots, recipient } = universe
  const known = { ring: opId(77), index: BigInt(slots.length), destinationChain: 101n }
  const order = { ...known, minOutput: LEAST, fillDeadline: NOW, ...change }
  const hash = opIdOf({ order, vault, mint: token.mint, recipient })
  const [marker] = await findMarker(chain.program, { vault, opId: hash })
  const seeds = [bytesOf(vault), Buffer.from(hash.slice(2), 'hex')]
  const [, second, third] = derive(chain.program, seeds)
  const others = [second, third].flatMap((address) => address ?? [])
  universe.pool.push(...others)
  slots.push({ vault, opId: hash, order, token, marker, others })
  return [marker]
}
