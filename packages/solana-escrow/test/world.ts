import type { AccountRole, Address, Instruction } from '@solana/kit'
import { findAuthority, findTokenAccount, MARKER_BYTES } from '../src/accounts.ts'
import { type Delivery, deliverInstruction, lockInstructions, type Order } from '../src/instructions.ts'
import {
  isNative,
  NATIVE_TOKEN,
  type OpId,
  type Terms,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  type Token,
} from '../src/terms.ts'
import { type Chain, createChain, newAddress, type Outcome } from './chain.ts'
import { named, opIdOf } from './order.ts'
import { createMint, holdTokens } from './tokens.ts'

export const NOW = 1_800_000_000n
export const DEADLINE = NOW + 100n
export const AMOUNT = 40_000_000n
/** The terms of a delivery besides vault, token and recipient. */
export const ORDER: Order = {
  ring: `0x${'5a'.repeat(32)}`,
  ...{ index: 3n, destinationChain: 101n, minOutput: AMOUNT, fillDeadline: DEADLINE },
}
const FUNDS = 10n ** 12n

/** A wallet, a service and their tokens on a chain of their own, at `NOW`. */
export type World = {
  chain: Chain
  token: Token
  terms: Terms
  authority: Address
  /** The token account of the input. */
  input: Address
  payer: Address
  recipient: Address
  stranger: Address
}

export const kinds = ['Token', 'Token-2022', 'SOL'] as const
export type Kind = (typeof kinds)[number]

export async function createWorld(kind: Kind, change: Partial<Terms> = {}): Promise<World> {
  const chain = createChain()
  chain.setTime(NOW)
  const programs = { Token: TOKEN_PROGRAM, 'Token-2022': TOKEN_2022_PROGRAM }
  const token = kind === 'SOL' ? NATIVE_TOKEN : createMint(chain, programs[kind])
  const [wallet, vault, attester, rentReceiver, payer, recipient, stranger] = Array.from(
    { length: 7 },
    newAddress,
  ) as [Address, Address, Address, Address, Address, Address, Address]
  const hash = opIdOf({ order: ORDER, vault, mint: token.mint, recipient })
  const roles = { wallet, vault, attester, rentReceiver, opId: hash }
  const terms = { ...roles, refundDeadline: DEADLINE, amount: AMOUNT, ...change }
  for (const address of [vault, rentReceiver, payer, stranger]) chain.fund(address, FUNDS)
  for (const owner of [terms.wallet, terms.vault, stranger, recipient]) {
    if (isNative(token)) chain.fund(owner, 100_000_000n)
    else await holdTokens(chain, { owner, token, amount: 100_000_000n })
  }
  const [authority] = await findAuthority(chain.program, terms)
  const input = await findTokenAccount(authority, token)
  return { chain, token, terms, authority, input, payer, recipient, stranger }
}

export function opId(number: number): OpId {
  return `0x${number.toString(16).padStart(64, '0')}`
}

export async function lock({ chain, terms, token }: World): Promise<Outcome> {
  const { rentReceiver: payer } = terms
  return chain.run(...(await lockInstructions(chain.program, { terms, token, payer })))
}

export function toDelivery({ chain, terms, token, payer, recipient }: World): Delivery {
  const markerLamports = chain.rent(MARKER_BYTES)
  const { vault } = terms
  return named({ order: ORDER, vault, payer, token, amount: AMOUNT, recipient, markerLamports })
}

/** Delivers what the change makes of it, under the op id of that. */
export async function deliver(world: World, change: Partial<Delivery> = {}): Promise<Outcome> {
  const { chain } = world
  return chain.run(await deliverInstruction(chain.program, named({ ...toDelivery(world), ...change })))
}

type Changed = { place: number; address?: Address; role?: AccountRole }

/** The instruction with another account or role in one place. */
export function withAccount(instruction: Instruction, { place, ...change }: Changed): Instruction {
  const accounts = (instruction.accounts ?? []).map((account, index) =>
    index === place ? { address: account.address, role: account.role, ...change } : account,
  )
  return { ...instruction, accounts }
}
