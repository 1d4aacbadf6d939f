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
import { GAS } from '../../model/gas.ts'
import { medianOfNodes } from '../nodes/agree.ts'
import type { EvmRequest } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

/** What a rollup charges for posting a byte to L1. Decimal text: it is stored with the transaction it was paid for. */
export type DataPrice = {
  weiPerByte: string
  /** Where that is charged as gas: how much a byte adds to the limit. Absent where it is charged beside the gas. */
  gasPerByte?: string
}

type Settings = Pick<EvmChainSettings, 'l1FeeOracle' | 'l1Gas'>

/** Of the unsigned transactions, measured on the plans and rounded up; a claim's is its part of a batch. */
export const BYTES = { lock: 420n, authorization: 110n, claim: 300n, deliver: 350n, purchase: 680n } as const
// A signed transaction without its data: nonce, fees, addresses, signature.
const ENVELOPE = 200n

export function bytesOf({ data, authorizations = [] }: EvmRequest): bigint {
  return ENVELOPE + BigInt(size(data as Hex)) + BYTES.authorization * BigInt(authorizations.length)
}

/** Undefined where bytes cost their gas alone. */
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

// A part of every node of an Arbitrum chain, and of no chain.
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8'
const nodeAbi = parseAbi([
  'function gasEstimateComponents(address, bool, bytes) view returns (uint64, uint64 gasForL1, uint256, uint256)',
])
// The chain charges for compressed bytes: these cannot be compressed, so no transaction costs more per byte.
const SAMPLE = concatHex(Array.from({ length: 32 }, (_, n) => keccak256(numberToHex(n))))

/** The call estimated does nothing: a lock may fail until its authorization is there, and its bytes cost the same. */
async function readL1Gas(node: PublicClient): Promise<bigint> {
  const call = { address: NODE_INTERFACE, abi: nodeAbi, functionName: 'gasEstimateComponents' } as const
  const [, gasForL1] = await node.readContract({ ...call, args: [zeroAddress, false, SAMPLE] })
  return gasForL1
}

// L1 prices move while a transaction waits; gas that is not used comes back.
const RESERVE = 2n

/** What its bytes add to the gas limit of a transaction. */
export function dataGasOf(request: EvmRequest, data: DataPrice | undefined): bigint {
  return RESERVE * bytesOf(request) * BigInt(data?.gasPerByte ?? 0)
}

/** What a sender has to hold for the bytes beside the gas. */
export function dataFeeOf(request: EvmRequest, data: DataPrice | undefined): bigint {
  return data && data.gasPerByte === undefined ? bytesOf(request) * BigInt(data.weiPerByte) : 0n
}

/** What bytes add to the price of a unit of gas. A lock has the most of them for its gas. */
export function dataFeePerGas(data: DataPrice | undefined): bigint {
  return divideUp(BYTES.lock * BigInt(data?.weiPerByte ?? 0), GAS.lock)
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by
}
