import type { TypedDataDomain } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type CustodyOf, type OpContent, termsOfOp } from '../../model/op-terms.ts'
import type { Op, Swap } from '../../model/swap.ts'
import type { Chain, Heads } from '../chain.ts'
import type { Findings } from '../findings.ts'

export type Kind = 'native' | 'token'
export type SwapOptions = { input?: Kind; output?: Kind; recipient?: string; quotedOutput?: bigint }
/** When something can land for the last time: by the clock of one family, by the height of the other. */
export type End = { deadline: number; lastValid?: bigint | undefined }

/** A real chain of one family with time in the hands of the test. Every swap both begins and ends on it. */
export type ConformanceWorld = {
  chain: Chain
  /** Every way in which the chain differs from its configuration. */
  verify(): Promise<Findings>
  senders: { relay: string; deliver: string }
  /** Where inputs wait, and where outputs come from. */
  places: { intake: string; inventory: string }
  tokens: Record<Kind, string>
  /** Of the attester's signatures. */
  domain: TypedDataDomain
  /** A contract refuses a payment that must not be made; without one, whoever plans it does. */
  paymentsAreRefusedBy: 'chain' | 'plan'
  /** Of a fresh wallet that holds three times the input. */
  newSwap(options?: SwapOptions): Promise<Swap>
  /** A recipient that cannot be paid, and in which kind of output it cannot. */
  newRefusal(): Promise<{ output: Kind; recipient: string }>
  emptyWallet(swap: Swap): Promise<void>
  balanceOf(owner: string, token: string): Promise<bigint>
  /** What was sent is at accept and settle depth, and not yet hard. */
  confirm(): Promise<void>
  /** Whatever is in a block is hard-final. */
  finalize(): Promise<void>
  /** What is sent next reaches the last block that may take it, or the one after. */
  comeTo(end: End, block: 'last' | 'tooLate'): Promise<void>
  /** The node takes the bytes and loses them. */
  broadcastInVain(raw: string): Promise<void>
  stop(): Promise<void>
}

export const INPUT_AMOUNT = 10_000_000n
// Above what a new account on Solana must hold.
export const QUOTED_OUTPUT = 20_000_000n
// Less than quoted, so that paying the one is not paying the other.
const MIN_OUTPUT = 19_000_000n

export const attesterKey = generatePrivateKey()
export const attester = privateKeyToAccount(attesterKey)
export const stranger = privateKeyToAccount(generatePrivateKey())

type Draft = Pick<Op, 'wallet' | 'inputToken' | 'outputToken' | 'recipient' | 'locker' | 'createsAccount'> & {
  chainId: number
  heads: Heads
  position: bigint
  quotedOutput?: bigint | undefined
}

export function toOp(custodyOf: CustodyOf, { chainId, heads, quotedOutput, ...draft }: Draft): Op {
  const { seconds, number } = heads.head
  const content: OpContent = {
    ...{ ...draft, originChain: chainId, destinationChain: chainId, round: 1n },
    ...{ inputAmount: INPUT_AMOUNT, minOutput: MIN_OUTPUT },
    ...{ opDeadline: seconds + 180, fillDeadline: seconds + 900, refundDeadline: seconds + 3_600 },
  }
  const { hash, deliveryHash } = termsOfOp(custodyOf, content)
  return {
    ...{ ...content, hash, deliveryHash, id: hash, createsAccount: draft.createsAccount },
    ...{ quotedOutput: quotedOutput ?? QUOTED_OUTPUT, swappable: INPUT_AMOUNT, priceFloor: 0n },
    ...{ venue: 'inventory', payToken: content.outputToken, payAmount: quotedOutput ?? QUOTED_OUTPUT },
    ...{ valueCents: 1_000n, walletBlock: number, originBlock: number, destinationBlock: number },
    ...{ lockFeeBound: 0n, deliveryFeeBound: 0n },
  }
}

export function toSwap(op: Op, signed: Pick<Swap, 'signature' | 'lastValid' | 'delegation'>): Swap {
  return {
    ...{ id: op.hash, state: 'accepted', version: 0, op, ...signed },
    originFinal: false,
    originSafe: false,
    deliveryFinal: false,
    exposedCents: 0n,
    unclaimedCents: 0n,
    isClaimBooked: false,
  }
}

/** Native coin and token, as input and as output. */
export const routes: { input: Kind; output: Kind }[] = [
  { input: 'token', output: 'native' },
  { input: 'native', output: 'token' },
]
