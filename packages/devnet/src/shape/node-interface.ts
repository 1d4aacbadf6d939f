import { type Address, decodeFunctionData, encodeFunctionResult, type Hex, parseAbi } from 'viem'

/** A contract that only nodes answer: https://docs.arbitrum.io/build-decentralized-apps/nodeinterface/reference */
export const NODE_INTERFACE: Address = '0x00000000000000000000000000000000000000c8'

const CALL = 'address to, bool contractCreation, bytes data'
const L1_PART = 'uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate'

export const NODE_INTERFACE_ABI = parseAbi([
  `function gasEstimateComponents(${CALL}) payable returns (uint64 gasEstimate, ${L1_PART})`,
  `function gasEstimateL1Component(${CALL}) payable returns (${L1_PART})`,
])

type NodeInterfaceCall = {
  functionName: 'gasEstimateComponents' | 'gasEstimateL1Component'
  to: Address | undefined
  data: Hex
}
type GasComponents = { total: bigint; l1: bigint; baseFee: bigint; l1BaseFee: bigint }

/** Undefined for functions that the contract does not have. */
export function decodeNodeInterface(data: unknown): NodeInterfaceCall | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const { functionName, args } = decodeFunctionData({ abi: NODE_INTERFACE_ABI, data: data as Hex })
    const [to, isCreation, inner] = args
    return { functionName, to: isCreation ? undefined : to, data: inner }
  } catch {
    return undefined
  }
}

export function encodeComponents(name: NodeInterfaceCall['functionName'], gas: GasComponents): Hex {
  if (name === 'gasEstimateL1Component') {
    const result = [gas.l1, gas.baseFee, gas.l1BaseFee] as const
    return encodeFunctionResult({ abi: NODE_INTERFACE_ABI, functionName: name, result })
  }
  const result = [gas.total, gas.l1, gas.baseFee, gas.l1BaseFee] as const
  return encodeFunctionResult({ abi: NODE_INTERFACE_ABI, functionName: name, result })
}
