import {
  concatHex,
  type Hex,
  keccak256,
  numberToHex,
  type PublicClient,
  parseAbi,
  size,
  zeroAddress,
} from 'viem'
import { GAS } from '../../swap/gas.ts'
import { medianOfNodes } from '../nodes/agree.ts'
import type { EvmRequest } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

/** The price of posting a byte to L1 from a rollup. Decimal text, stored with the transaction that paid it. */
export type DataPrice = {
  weiPerByte: string
  /** Gas that a byte adds to the limit, if the chain charges L1 data as gas. Absent if it is charged separately. */
  gasPerByte?: string
}

type Settings = Pick<EvmChainSettings, 'l1FeeOracle' | 'l1Gas'>

/** Sizes of unsigned transactions, measured and rounded up; a claim's is its share of a batch. */
export const BYTES = {
  lock: 420n,
  delegation: 110n,
  claim: 300n,
  deliver: 350n,
  purchase: 680n,
} as const
// A signed transaction without its data: nonce, fees, addresses, signature.
const ENVELOPE = 200n

export function bytesOf({ data, authorizations = [] }: EvmRequest): bigint {
  return ENVELOPE + BigInt(size(data as Hex)) + BYTES.delegation * BigInt(authorizations.length)
}

/** Undefined on a chain without L1 data fees. */
export async function readDataPrice(
  nodes: readonly PublicClient[],
  settings: Settings,
  baseFee: bigint,
): Promise<DataPrice | undefined> {
  if (settings.l1Gas === 'arbitrum') {
    const gas = await medianOfNodes(nodes.map(readL1Gas))
    const gasPerByte = divideUp(gas, BigInt(size(SAMPLE)))
    return { weiPerByte: String(gasPerByte * baseFee), gasPerByte: String(gasPerByte) }
  }
  const { l1FeeOracle: address } = settings
  if (!address) return undefined
  const call = { address, abi: oracleAbi, functionName: 'getL1FeeUpperBound', args: [BYTES.deliver] } as const
  const fee = await medianOfNodes(nodes.map((node) => node.readContract(call)))
  return { weiPerByte: String(divideUp(fee, BYTES.deliver)) }
}

const oracleAbi = parseAbi(['function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)'])

// A virtual contract that every Arbitrum node implements, without code on the chain.
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8'
const nodeAbi = parseAbi([
  'function gasEstimateComponents(address, bool, bytes) view returns (uint64, uint64 gasForL1, uint256, uint256)',
])
// The chain charges for compressed bytes: these cannot be compressed, so no transaction costs more per byte.
const SAMPLE = concatHex(Array.from({ length: 32 }, (_, n) => keccak256(numberToHex(n))))

/**
 * Estimates an empty call with the sample as data: a real lock may fail before its delegation, and the bytes cost
 * the same.
 */
async function readL1Gas(node: PublicClient): Promise<bigint> {
  const call = { address: NODE_INTERFACE, abi: nodeAbi, functionName: 'gasEstimateComponents' } as const
  const [, gasForL1] = await node.readContract({ ...call, args: [zeroAddress, false, SAMPLE] })
  return gasForL1
}

// L1 prices move while a transaction waits; unused gas is refunded.
const RESERVE = 2n

/** The gas that a transaction's bytes add to its limit. */
export function dataGasOf(request: EvmRequest, data: DataPrice | undefined): bigint {
  return RESERVE * bytesOf(request) * BigInt(data?.gasPerByte ?? 0)
}

/** The balance that the sender needs for data fees charged beside the gas. */
export function dataFeeOf(request: EvmRequest, data: DataPrice | undefined): bigint {
  return data && data.gasPerByte === undefined ? bytesOf(request) * BigInt(data.weiPerByte) : 0n
}

/** The data fee per unit of gas, by the leg with the most bytes per gas: a lock. */
export function dataFeePerGas(data: DataPrice | undefined): bigint {
  return divideUp(BYTES.lock * BigInt(data?.weiPerByte ?? 0), GAS.lock)
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by
}
