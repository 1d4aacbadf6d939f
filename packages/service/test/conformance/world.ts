import type { AttesterSignature } from '@geoswap/protocol'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Chain, Heads } from '../../src/chains/chain.ts'
import type { Findings } from '../../src/chains/findings.ts'
import { type CustodyOf, type OpContent, termsOfOp } from '../../src/swap/op-terms.ts'
import { unquotedTerms } from '../../src/swap/quote.ts'
import type { Op, Swap } from '../../src/swap/swap.ts'

export type Kind = 'native' | 'token'
export type SwapOptions = { input?: Kind; output?: Kind; recipient?: string; quotedOutput?: bigint }
/** The end of a transaction's life: by the clock of one family, by the height of the other. */
type End = { deadline: number; lastValid?: bigint | undefined }

/** `isLate`: nothing can be done with it any more. */
export type Attesting = {
  kind: 'claim' | 'refund'
  swaps: readonly Swap[]
  validUntil: number
  by: 'attester' | 'stranger'
  isLate: boolean
}

/** A real chain of one family whose time the test controls. Every swap both begins and ends on it. */
export type ConformanceWorld = {
  chain: Chain
  /** Lists the differences between the chain and its configuration. */
  verify(): Promise<Findings>
  senders: { relay: string; deliver: string }
  /** The holder of the inventory. */
  vault: string
  /** The balance of the holder of this op's input, in its token. */
  heldFor(op: Op): Promise<bigint>
  tokens: Record<Kind, string>
  /** An attestation as the attester or a stranger signs it. */
  attest(attesting: Attesting): Promise<AttesterSignature>
  /** A plan refuses what is not attested if the chain would not even see it as such. */
  forgeriesAreRefusedBy: 'chain' | 'plan'
  /** A swap of a fresh wallet that holds three times the input. */
  newSwap(options?: SwapOptions): Promise<Swap>
  /** A recipient that cannot be paid, and the kind of output it cannot receive. */
  newRefusal(): Promise<{ output: Kind; recipient: string }>
  emptyWallet(swap: Swap): Promise<void>
  balanceOf(owner: string, token: string): Promise<bigint>
  /** Brings sent transactions to accept and settle depth, but not to hard finality. */
  confirm(): Promise<void>
  /** Makes every block hard-final. */
  finalize(): Promise<void>
  /** Places the next transaction in the last valid block, or in the one after. */
  comeTo(end: End, block: 'last' | 'tooLate'): Promise<void>
  /** The node accepts the bytes and loses them. */
  broadcastInVain(raw: string): Promise<void>
  stop(): Promise<void>
}

export const INPUT_AMOUNT = 10_000_000n
// Above the rent minimum of a new account on Solana.
export const QUOTED_OUTPUT = 20_000_000n
// Below the quoted output, to distinguish the two amounts.
const MIN_OUTPUT = 19_000_000n

export const attesterKey = generatePrivateKey()
export const attester = privateKeyToAccount(attesterKey)

type Draft = Pick<
  Op,
  'wallet' | 'inputToken' | 'outputToken' | 'recipient' | 'locker' | 'createsAccount' | 'method'
> & {
  chainId: number
  heads: Heads
  position: bigint
  quotedOutput?: bigint | undefined
}

export function toOp(custodyOf: CustodyOf, { chainId, heads, quotedOutput, ...draft }: Draft): Op {
  const { seconds, number } = heads.head
  const content: OpContent = {
    ...draft,
    originChain: chainId,
    destinationChain: chainId,
    round: 1n,
    inputAmount: INPUT_AMOUNT,
    minOutput: MIN_OUTPUT,
    opDeadline: seconds + 180,
    fillDeadline: seconds + 900,
    refundDeadline: seconds + 3_600,
  }
  const { hash, deliveryHash } = termsOfOp(custodyOf, content)
  return {
    ...{ ...unquotedTerms, ...content, hash, deliveryHash, id: hash, createsAccount: draft.createsAccount },
    method: draft.method,
    ...{ quotedOutput: quotedOutput ?? QUOTED_OUTPUT, swappable: INPUT_AMOUNT },
    ...{ venue: 'inventory', payToken: content.outputToken, payAmount: quotedOutput ?? QUOTED_OUTPUT },
    ...{ valueCents: 1_000n, walletBlock: number, originBlock: number, destinationBlock: number },
  }
}

export function toSwap(op: Op, signed: Pick<Swap, 'signature' | 'lastValid' | 'delegation'>): Swap {
  return {
    id: op.hash,
    state: 'accepted',
    version: 0,
    op,
    ...signed,
    originFinal: false,
    originSafe: false,
    deliveryFinal: false,
    exposedCents: 0n,
    unclaimedCents: 0n,
    changedAt: 0,
    isClaimBooked: false,
    isPaidFast: false,
  }
}

/** Native coin and token, as input and as output. */
export const routes: { input: Kind; output: Kind }[] = [
  { input: 'token', output: 'native' },
  { input: 'native', output: 'token' },
]
