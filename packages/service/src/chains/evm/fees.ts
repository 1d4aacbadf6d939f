import type { PublicClient } from 'viem'
import type { LegCosts } from '../../swap/catalog.ts'
import { GAS } from '../../swap/gas.ts'
import type { Heads, ReplacementOffers, Sent, SigningTerms } from '../chain.ts'
import { medianOfNodes } from '../nodes/agree.ts'
import { BYTES, type DataPrice, dataFeeOf, dataFeePerGas, dataGasOf, readDataPrice } from './data-price.ts'
import type { WithBaseFee } from './heads.ts'
import { BURN, CLAIM_MANY, type EvmRequest } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'
import type { EvmLock } from './ways.ts'

type TipSettings = Pick<EvmChainSettings, 'tipWei' | 'maxTipWei' | 'l1Gas'>

// Chains without a base fee ask for about this much.
const LEAST_BOUND = 100_000_000n

/** The median tip of the nodes, at most twice the base fee, so that no node can set an arbitrary one. */
export async function readTip(
  nodes: readonly PublicClient[],
  settings: TipSettings,
  baseFee: bigint,
): Promise<bigint> {
  if (settings.tipWei !== undefined) return settings.tipWei
  // Sequencers of Arbitrum ignore tips.
  if (settings.l1Gas === 'arbitrum') return 0n
  const suggested = await medianOfNodes(nodes.map((node) => node.estimateMaxPriorityFeePerGas()))
  return boundTip(suggested, baseFee, settings.maxTipWei)
}

export function boundTip(suggested: bigint, baseFee: bigint, maxTipWei?: bigint): bigint {
  const bound = maxTipWei ?? (2n * baseFee > LEAST_BOUND ? 2n * baseFee : LEAST_BOUND)
  return suggested < bound ? suggested : bound
}

/** In wei, as decimal text: stored with the transaction that paid them. */
export type Fees = {
  maxFeePerGas: string
  maxPriorityFeePerGas: string
  /** The rollup's data price when the transaction was signed. */
  data?: DataPrice
  /** The highest price of a unit of gas, data fees included; absent if unbounded. */
  bound?: string
}

type Settings = Pick<EvmChainSettings, 'tipWei' | 'maxTipWei' | 'l1FeeOracle' | 'l1Gas'>
type Prices = { baseFee: bigint; tip: bigint; data: DataPrice | undefined }
/** `read` asks the nodes, `recent` returns prices up to seven seconds old. */
export type PriceReader = Record<'read' | 'recent', (heads: Heads) => Promise<Prices>>

/** Offers twice the base fee, which covers five full blocks in a row: EIP-1559 raises it by an eighth per block. */
export async function readFees(prices: PriceReader, heads: Heads, isRefused = false): Promise<Fees> {
  // Prices may have changed in the last seconds.
  const { baseFee, tip, data } = await (isRefused ? prices.read(heads) : prices.recent(heads))
  const fees = { maxFeePerGas: String(baseFee * 2n + tip), maxPriorityFeePerGas: String(tip) }
  return data ? { ...fees, data } : fees
}

// The follower of a chain reads prices every five seconds, at a new block: its process signs without a call of its own.
// A transaction that offers too little is signed again with newer ones.
const RECENT_MS = 7_000

/**
 * Reads tip and data price of a chain for the whole process; the base fee is always the head's. Asks each node
 * directly, without combining calls: Arbitrum's NodeInterface answers direct calls only.
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

/** Undefined if a transaction that should be included soon would have to offer more than the bound. */
export function boundFees(fees: Fees, bound: bigint): Fees | undefined {
  return priceOf(fees) <= bound ? { ...fees, bound: String(bound) } : undefined
}

/** The highest price of a unit of gas, data fees included. */
function priceOf({ maxFeePerGas, data }: Fees): bigint {
  return BigInt(maxFeePerGas) + dataFeePerGas(data)
}

export async function readLegCosts(
  prices: PriceReader,
  locks: readonly EvmLock[],
  heads: Heads,
): Promise<LegCosts> {
  return legCostsAt(await prices.read(heads), locks)
}

export function legCostsAt({ baseFee, tip, data }: Prices, locks: readonly EvmLock[]): LegCosts {
  const price = baseFee + tip
  const costFor = (gas: bigint, bytes: bigint) => gas * price + bytes * BigInt(data?.weiPerByte ?? 0)
  const costOf = (leg: keyof typeof BYTES) => costFor(GAS[leg], BYTES[leg])
  const lock = costOf('lock') + costOf('claim')
  const ways = locks.flatMap(({ name, measured }) =>
    measured ? [[name, costFor(measured.gas, measured.bytes) + costOf('claim')] as const] : [],
  )
  return {
    lock,
    firstLock: lock + costOf('delegation'),
    ways: Object.fromEntries(ways),
    delivery: costOf('deliver'),
    purchase: costOf('purchase'),
    gasPrice: price + dataFeePerGas(data),
  }
}

function baseFeeOf({ head }: Heads): bigint {
  return (head as Heads['head'] & WithBaseFee).baseFeeWei
}

export function gasLimitOf(request: EvmRequest, { data }: Fees): bigint {
  return BigInt(request.gas) + dataGasOf(request, data)
}

// EIP-7825: the highest gas limit of a transaction.
const MAX_GAS = 2n ** 24n

export function fitsBlock(request: EvmRequest, fees: Fees): boolean {
  return gasLimitOf(request, fees) <= MAX_GAS
}

/** Leaves room for data prices to double: claims signed together are sent later. */
export function claimsThatFit(fees: Fees, most: number): number {
  const limitOf = (claims: number) => {
    const data: `0x${string}` = `0x${'00'.repeat(Number(BYTES.claim) * claims)}`
    return gasLimitOf({ to: '', data, gas: CLAIM_MANY.fixed + CLAIM_MANY.each * claims }, fees)
  }
  const sizes = Array.from({ length: most }, (_, less) => most - less)
  return sizes.find((claims) => 2n * limitOf(claims) <= MAX_GAS) ?? 1
}

/** Prices the replacements of a transaction, by steps that nodes accept. */
export function offerReplacements(stuck: Sent, current: SigningTerms): ReplacementOffers {
  const { bound, ...paid } = stuck.terms as Fees
  const request = stuck.request as EvmRequest
  const raised = raisedFees(paid, current as Fees)
  const bounded = bound === undefined ? raised : boundFees(raised, BigInt(bound))
  const fits = fitsBlock(request, raised)
  const toReplacement = (content: EvmRequest, terms: Fees, isBurn: boolean) => {
    return { request: content, terms, isBurn, cost: costOf(content, terms) }
  }
  return {
    isOutbid: isOutbid(paid, current as Fees),
    bounded: fits && bounded ? toReplacement(request, bounded, false) : undefined,
    unbounded: fits ? toReplacement(request, raised, false) : undefined,
    noop: toReplacement(BURN, raised, true),
  }
}

/** The balance that nodes require of the sender. */
export function costOf(request: EvmRequest, fees: Fees): bigint {
  const gas = gasLimitOf(request, fees) * BigInt(fees.maxFeePerGas)
  return gas + dataFeeOf(request, fees.data) + BigInt(request.value ?? 0)
}

/** Whether a new transaction would now offer a higher fee, or a higher limit for its bytes. */
function isOutbid(paid: Fees, current: Fees): boolean {
  const isBelow = (fee: 'maxFeePerGas' | 'maxPriorityFeePerGas') => BigInt(paid[fee]) < BigInt(current[fee])
  const isShort = BigInt(paid.data?.gasPerByte ?? 0) < BigInt(current.data?.gasPerByte ?? 0)
  return isBelow('maxFeePerGas') || isBelow('maxPriorityFeePerGas') || isShort
}

/** Raises both fees by an eighth: nodes accept a replacement only at a tenth more, some only at an eighth. */
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
