import type { PublicClient } from 'viem'
import type { LegCosts } from '../../model/catalog.ts'
import { GAS } from '../../model/gas.ts'
import type { Heads, Replacement, ReplacementOptions, Sent, SigningTerms } from '../chain.ts'
import { BYTES, type DataPrice, dataFeeOf, dataFeePerGas, dataGasOf, readDataPrice } from './data-price.ts'
import { BURN, CLAIM_MANY, type EvmRequest } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'
import { readTip } from './tip.ts'

/** In wei, as decimal text: they are stored with the transaction that they paid for. */
export type Fees = {
  maxFeePerGas: string
  maxPriorityFeePerGas: string
  /** Of a rollup, when the transaction was signed. */
  data?: DataPrice
  /**
   * A unit of gas never costs more, with what the bytes add to it; absent where the transaction is worth whatever it
   * takes.
   */
  bound?: string
}

type Settings = Pick<EvmChainSettings, 'tipWei' | 'maxTipWei' | 'l1FeeOracle' | 'l1Gas'>
type Prices = { baseFee: bigint; tip: bigint; data: DataPrice | undefined }
/** Asks anew, or takes what was read in the last seconds. */
export type PriceReader = Record<'read' | 'recent', (heads: Heads) => Promise<Prices>>

/** Twice the current base fee covers five full blocks in a row: EIP-1559 raises it by an eighth a block. */
export async function readFees(prices: PriceReader, heads: Heads, isRefused = false): Promise<Fees> {
  // A refusal may be due to prices that changed a second ago.
  const { baseFee, tip, data } = await (isRefused ? prices.read(heads) : prices.recent(heads))
  const fees = { maxFeePerGas: String(baseFee * 2n + tip), maxPriorityFeePerGas: String(tip) }
  return data ? { ...fees, data } : fees
}

// Locks and deliveries that are signed at once share them. What landed with too little gas is signed anew with others.
const RECENT_MS = 1_000

/**
 * Tip and price of bytes of a chain, shared by all who ask in this process; the base fee is always the head's. Each
 * node is asked for itself, and not gathered: Arbitrum's NodeInterface answers direct calls alone.
 */
export function createPriceReader(nodes: readonly PublicClient[], settings: Settings): PriceReader {
  let known: { asked: Promise<Omit<Prices, 'baseFee'>>; at: number } | undefined
  const ask = async (baseFee: bigint) => {
    const [tip, data] = await Promise.all([
      readTip(nodes, settings, baseFee),
      readDataPrice(nodes, settings, baseFee),
    ])
    return { tip, data }
  }
  const read = async (heads: Heads): Promise<Prices> => {
    const baseFee = baseFeeOf(heads)
    const asked = ask(baseFee)
    const mine = { asked, at: performance.now() }
    known = mine
    asked.catch(() => {
      if (known === mine) known = undefined
    })
    return { baseFee, ...(await asked) }
  }
  return {
    read,
    recent: async (heads) => {
      if (!known || performance.now() - known.at >= RECENT_MS) return read(heads)
      return { baseFee: baseFeeOf(heads), ...(await known.asked) }
    },
  }
}

/** Undefined while a transaction that should soon be in a block would have to offer more. */
export function boundFees(fees: Fees, bound: bigint): Fees | undefined {
  return priceOf(fees) <= bound ? { ...fees, bound: String(bound) } : undefined
}

/** What a unit of gas may cost, with what the bytes add to it. */
function priceOf({ maxFeePerGas, data }: Fees): bigint {
  return BigInt(maxFeePerGas) + dataFeePerGas(data)
}

export async function readLegCosts(prices: PriceReader, heads: Heads): Promise<LegCosts> {
  const { baseFee, tip, data } = await prices.read(heads)
  const price = baseFee + tip
  const costOf = (leg: keyof typeof BYTES) => GAS[leg] * price + BYTES[leg] * BigInt(data?.weiPerByte ?? 0)
  const lock = costOf('lock') + costOf('claim')
  return {
    lock,
    firstLock: lock + costOf('authorization'),
    delivery: costOf('deliver'),
    purchase: costOf('purchase'),
    gasPrice: price + dataFeePerGas(data),
  }
}

/** The blocks of an EVM chain carry their base fee. */
export type WithBaseFee = { baseFeeWei: bigint }

function baseFeeOf({ head }: Heads): bigint {
  return (head as Heads['head'] & WithBaseFee).baseFeeWei
}

export function gasLimitOf(request: EvmRequest, { data }: Fees): bigint {
  return BigInt(request.gas) + dataGasOf(request, data)
}

// EIP-7825: no transaction may have a higher limit.
const MAX_GAS = 2n ** 24n

export function fitsBlock(request: EvmRequest, fees: Fees): boolean {
  return gasLimitOf(request, fees) <= MAX_GAS
}

/** Claims that are signed together are sent later, when bytes may cost twice as much. */
export function claimsThatFit(fees: Fees, most: number): number {
  const limitOf = (claims: number) => {
    const data: `0x${string}` = `0x${'00'.repeat(Number(BYTES.claim) * claims)}`
    return gasLimitOf({ to: '', data, gas: CLAIM_MANY.fixed + CLAIM_MANY.each * claims }, fees)
  }
  const sizes = Array.from({ length: most }, (_, less) => most - less)
  return sizes.find((claims) => 2n * limitOf(claims) <= MAX_GAS) ?? 1
}

const REPLACE_AFTER_BLOCKS = 3n
// Some chains make four blocks a second, and a transaction may still be on its way to who makes them.
const REPLACE_AFTER_SECONDS = 3
// After this many raises the bytes are not the trouble: the nonce is burnt, and the work starts over.
const MAX_RAISES = 6

export function planReplacement(
  stuck: Sent,
  { head }: Heads,
  current: SigningTerms,
  { policy = 'quotedFee', isRefused = false }: ReplacementOptions = {},
): Replacement | undefined {
  const isEarly =
    head.number - stuck.sentAtBlock < REPLACE_AFTER_BLOCKS ||
    head.seconds - stuck.sentAtSeconds < REPLACE_AFTER_SECONDS
  // What must not happen any more is not left to the next blocks.
  if (isEarly && !isRefused && policy !== 'cancel') return undefined
  const { bound: quoted, ...paid } = stuck.terms as Fees
  // Its offer is good, and either a block takes it soon or nothing arrives at all: raises without end would only mount
  // up to whatever its key holds.
  if (stuck.replacement > MAX_RAISES && !isOutbid(paid, current as Fees)) return undefined
  const bound = policy === 'anyFee' ? undefined : quoted
  const raised = raisedFees(paid, current as Fees)
  const isTooDear = bound !== undefined && priceOf(raised) > BigInt(bound)
  const isTooLarge = !fitsBlock(stuck.request as EvmRequest, raised)
  // What waits behind it may be worth more: its nonce is not kept for it until fees fall.
  const isGivenUp = policy === 'cancel' || stuck.replacement >= MAX_RAISES || isTooDear || isTooLarge
  const isBurn = stuck.isBurn || isGivenUp
  const request = isBurn ? BURN : (stuck.request as EvmRequest)
  const terms = isBurn || bound === undefined ? raised : { ...raised, bound }
  return { isBurn, request, terms, cost: costOf(request, terms) }
}

/** What its sender has to hold for a node to take it. */
export function costOf(request: EvmRequest, fees: Fees): bigint {
  const gas = gasLimitOf(request, fees) * BigInt(fees.maxFeePerGas)
  return gas + dataFeeOf(request, fees.data) + BigInt(request.value ?? 0)
}

/** Whether what is offered for the first time now offers more, or has a higher limit for its bytes. */
function isOutbid(paid: Fees, current: Fees): boolean {
  const isBelow = (fee: 'maxFeePerGas' | 'maxPriorityFeePerGas') => BigInt(paid[fee]) < BigInt(current[fee])
  const isShort = BigInt(paid.data?.gasPerByte ?? 0) < BigInt(current.data?.gasPerByte ?? 0)
  return isBelow('maxFeePerGas') || isBelow('maxPriorityFeePerGas') || isShort
}

/** Nodes take a replacement only at a tenth more than what it replaces, some at an eighth, of both fees. */
function raisedFees(paid: Fees, current: Fees): Fees {
  const raise = (fee: string, least: string) => {
    const raised = (BigInt(fee) * 9n) / 8n + 1n
    return String(raised > BigInt(least) ? raised : least)
  }
  const raised = {
    maxFeePerGas: raise(paid.maxFeePerGas, current.maxFeePerGas),
    maxPriorityFeePerGas: raise(paid.maxPriorityFeePerGas, current.maxPriorityFeePerGas),
  }
  return current.data ? { ...raised, data: current.data } : raised
}
