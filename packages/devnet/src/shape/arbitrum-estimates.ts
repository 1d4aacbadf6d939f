import { type Hex, size } from 'viem'
import { type Call, type Next, refuse } from './call.ts'
import { decodeNodeInterface, encodeComponents } from './node-interface.ts'

// Bytes of a signed transaction besides its data, and of one authorization.
const ENVELOPE_BYTES = 120
const AUTHORIZATION_BYTES = 101
// Nitro adds a tenth to the L1 part of an estimate: OffchainLabs/nitro arbos/tx_processor.go
const ESTIMATE_PERCENT = 110n
const L1_GAS_PER_BYTE = 16n

export type CallJson = {
  to?: string | null | undefined
  data?: Hex | undefined
  input?: Hex | undefined
  authorizationList?: unknown[]
}
export type Prices = { weiPerByte: () => bigint; basePrice: () => Promise<bigint> }

/** The L1 part of transactions in gas: exact for a signed one, with a reserve for an unsigned one. */
export function createArbitrumEstimates({ weiPerByte, basePrice }: Prices) {
  async function l1GasOf(bytes: number, percent = 100n): Promise<bigint> {
    const price = await basePrice()
    return (BigInt(bytes) * weiPerByte() * percent + price * 100n - 1n) / (price * 100n)
  }

  function estimateL1(call: CallJson): Promise<bigint> {
    const data = size(call.data ?? call.input ?? '0x')
    const authorizations = (call.authorizationList?.length ?? 0) * AUTHORIZATION_BYTES
    return l1GasOf(ENVELOPE_BYTES + data + authorizations, ESTIMATE_PERCENT)
  }

  /** Answers an `eth_call` to the NodeInterface. */
  async function components(call: Call, next: Next): Promise<unknown> {
    const [request, ...rest] = call.params as [CallJson, ...unknown[]]
    const asked = decodeNodeInterface(request.data ?? request.input)
    if (!asked) return refuse('execution reverted')
    const inner = { ...request, to: asked.to, data: asked.data, input: undefined }
    const l1 = await estimateL1(inner)
    const isTotal = asked.functionName === 'gasEstimateComponents'
    const estimate = { ...call, method: 'eth_estimateGas', params: [inner, ...rest] }
    const total = isTotal ? l1 + BigInt((await next(estimate)) as string) : l1
    const l1BaseFee = weiPerByte() / L1_GAS_PER_BYTE
    return encodeComponents(asked.functionName, { total, l1, baseFee: await basePrice(), l1BaseFee })
  }

  return { l1GasOf, estimateL1, components }
}
