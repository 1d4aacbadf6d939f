import { type PublicClient, parseAbi } from 'viem'
import type { LegCosts } from '../../model/catalog.ts'
import { GAS } from '../../model/gas.ts'
import type { Heads, Replacement, Sent, SigningTerms, Worth } from '../chain.ts'
import { BURN, type EvmRequest } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

/** In wei, as decimal text: they are stored with the transaction that they paid for. */
export type Fees = {
  maxFeePerGas: string
  maxPriorityFeePerGas: string
  /** What `maxFeePerGas` is never raised above; absent where the transaction is worth whatever it takes. */
  bound?: string
}

type Settings = Pick<EvmChainSettings, 'tipWei' | 'l1FeeOracle'>

/** Twice the current base fee covers five full blocks in a row: EIP-1559 raises it by an eighth a block. */
export async function readFees(client: PublicClient, settings: Settings, heads: Heads): Promise<Fees> {
  const tip = await readTip(client, settings)
  return {
    maxFeePerGas: String(baseFeeOf(heads) * 2n + tip),
    maxPriorityFeePerGas: String(tip),
  }
}

/** Undefined while a transaction that should soon be in a block would have to offer more. */
export function boundFees(fees: Fees, bound: bigint): Fees | undefined {
  return BigInt(fees.maxFeePerGas) <= bound ? { ...fees, bound: String(bound) } : undefined
}

export async function readLegCosts(
  client: PublicClient,
  settings: Settings,
  heads: Heads,
): Promise<LegCosts> {
  const price = baseFeeOf(heads) + (await readTip(client, settings))
  const costOf = async (leg: keyof typeof BYTES) =>
    GAS[leg] * price + (await readDataFee(client, settings, BYTES[leg]))
  const [lock, authorization, claim, delivery, purchase] = await Promise.all([
    ...([costOf('lock'), costOf('authorization'), costOf('claim')] as const),
    ...([costOf('deliver'), costOf('purchase')] as const),
  ])
  const locks = { lock: lock + claim, firstLock: lock + claim + authorization }
  return { ...locks, delivery, purchase, gasPrice: price }
}

// Of the unsigned transactions, measured on the plans and rounded up; a claim's is its part of a batch.
const BYTES = { lock: 420n, authorization: 110n, claim: 300n, deliver: 350n, purchase: 680n } as const

const oracleAbi = parseAbi(['function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)'])

/** On a rollup the bytes are paid for as well, by the price of the chain that they are posted to. */
async function readDataFee(client: PublicClient, { l1FeeOracle }: Settings, bytes: bigint): Promise<bigint> {
  if (!l1FeeOracle) return 0n
  const oracle = { address: l1FeeOracle, abi: oracleAbi } as const
  return client.readContract({ ...oracle, functionName: 'getL1FeeUpperBound', args: [bytes] })
}

async function readTip(client: PublicClient, { tipWei }: Settings): Promise<bigint> {
  return tipWei ?? client.estimateMaxPriorityFeePerGas()
}

/** The blocks of an EVM chain carry their base fee. */
export type WithBaseFee = { baseFeeWei: bigint }

function baseFeeOf({ head }: Heads): bigint {
  return (head as Heads['head'] & WithBaseFee).baseFeeWei
}

const REPLACE_AFTER_BLOCKS = 3n
// After this many raises the bytes are not the trouble: the nonce is burnt, and the work starts over.
const MAX_RAISES = 6

export function planReplacement(
  stuck: Sent,
  { head }: Heads,
  current: SigningTerms,
  worth: Worth = 'quoted',
): Replacement | undefined {
  const isEarly = head.number - stuck.sentAtBlock < REPLACE_AFTER_BLOCKS
  // What must not happen any more is not left to the next blocks.
  if (isEarly && worth !== 'nothing') return undefined
  const { bound: quoted, ...paid } = stuck.terms as Fees
  // Its offer is good, and either a block takes it soon or nothing arrives at all: raises without end would only mount
  // up to whatever its key holds.
  if (stuck.replacement > MAX_RAISES && !isOutbid(paid, current as Fees)) return undefined
  const bound = worth === 'owed' ? undefined : quoted
  const raised = raisedFees(paid, current as Fees)
  const isTooDear = bound !== undefined && BigInt(raised.maxFeePerGas) > BigInt(bound)
  // What waits behind it may be worth more: its nonce is not kept for it until fees fall.
  const isGivenUp = worth === 'nothing' || stuck.replacement >= MAX_RAISES || isTooDear
  const isBurn = stuck.isBurn || isGivenUp
  const request = isBurn ? BURN : (stuck.request as EvmRequest)
  const terms = isBurn || bound === undefined ? raised : { ...raised, bound }
  return { isBurn, request, terms, cost: costOf(request, terms) }
}

/** What its sender has to hold for a node to take it. */
export function costOf({ gas, value = '0' }: EvmRequest, { maxFeePerGas }: Fees): bigint {
  return BigInt(gas) * BigInt(maxFeePerGas) + BigInt(value)
}

/** Whether what is offered for the first time now offers more. */
function isOutbid(paid: Fees, current: Fees): boolean {
  const isBelow = (fee: 'maxFeePerGas' | 'maxPriorityFeePerGas') => BigInt(paid[fee]) < BigInt(current[fee])
  return isBelow('maxFeePerGas') || isBelow('maxPriorityFeePerGas')
}

/** Nodes take a replacement only at an eighth more than what it replaces. */
function raisedFees(paid: Fees, current: Fees): Fees {
  const raise = (fee: string, least: string) => {
    const raised = (BigInt(fee) * 9n) / 8n + 1n
    return String(raised > BigInt(least) ? raised : least)
  }
  return {
    maxFeePerGas: raise(paid.maxFeePerGas, current.maxFeePerGas),
    maxPriorityFeePerGas: raise(paid.maxPriorityFeePerGas, current.maxPriorityFeePerGas),
  }
}
