import { type PublicClient, zeroAddress } from 'viem'
import { GAS } from '../../model/gas.ts'
import type { Heads, LegCosts, Replacement, Sent, SigningTerms } from '../chain.ts'
import type { EvmRequest } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

/** In wei, as decimal text: they are stored with the transaction that they paid for. */
export type Fees = { maxFeePerGas: string; maxPriorityFeePerGas: string }

type Settings = Pick<EvmChainSettings, 'tipWei'>

/** Twice the current base fee covers five full blocks in a row: EIP-1559 raises it by an eighth a block. */
export async function readFees(client: PublicClient, settings: Settings, heads: Heads): Promise<Fees> {
  const tip = await readTip(client, settings)
  return {
    maxFeePerGas: String(baseFeeOf(heads) * 2n + tip),
    maxPriorityFeePerGas: String(tip),
  }
}

export async function readLegCosts(
  client: PublicClient,
  settings: Settings,
  heads: Heads,
): Promise<LegCosts> {
  const price = baseFeeOf(heads) + (await readTip(client, settings))
  const lock = (GAS.lock + GAS.claim) * price
  return {
    lock,
    firstLock: lock + GAS.authorization * price,
    delivery: GAS.deliver * price,
    purchase: GAS.purchase * price,
  }
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
// A transaction to nobody in particular that does nothing.
const BURN: EvmRequest = { to: zeroAddress, data: '0x', gas: 21_000 }

export function planReplacement(
  stuck: Sent,
  { head }: Heads,
  current: SigningTerms,
): Replacement | undefined {
  if (head.number - stuck.sentAtBlock < REPLACE_AFTER_BLOCKS) return undefined
  const isBurn = stuck.isBurn || stuck.replacement >= MAX_RAISES
  return {
    isBurn,
    request: isBurn ? BURN : stuck.request,
    terms: raisedFees(stuck.terms as Fees, current as Fees),
  }
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
