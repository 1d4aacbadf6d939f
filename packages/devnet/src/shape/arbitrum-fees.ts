import { type Hex, size } from 'viem'
import { createArbitrumBook } from './arbitrum-book.ts'
import { type Ask, type Call, type Next, refuse, toHex } from './call.ts'
import { charge, type Fees } from './fee-system.ts'
import type { Heads } from './heads.ts'
import { decodeNodeInterface, encodeComponents, NODE_INTERFACE } from './node-interface.ts'
import type { SignedTransaction } from './signed-transaction.ts'

// Bytes of a signed transaction beside its data, and those of one authorization.
const ENVELOPE_BYTES = 120
const AUTHORIZATION_BYTES = 101
// Nitro adds a tenth to the L1 part of an estimate: https://docs.arbitrum.io/how-arbitrum-works/deep-dives/gas-and-fees
const ESTIMATE_PERCENT = 110n
const L1_GAS_PER_BYTE = 16n

type CallJson = {
  to?: string | null | undefined
  data?: Hex | undefined
  input?: Hex | undefined
  authorizationList?: unknown[]
}
type Given = { ask: Ask; heads: Heads; weiPerByte: () => bigint; basePrice: () => Promise<bigint> }

/**
 * Arbitrum: the L1 part is gas of the transaction itself, so its limit covers both. The node beneath gets each
 * transaction with the limit less the L1 part and without a tip, by an impersonated sender; the book renames it.
 * https://docs.arbitrum.io/how-arbitrum-works/deep-dives/gas-and-fees
 */
export function createArbitrumFees(given: Given): Fees {
  const { ask, weiPerByte, basePrice } = given
  const book = createArbitrumBook()

  async function l1GasOf(bytes: number, percent = 100n): Promise<bigint> {
    const price = await basePrice()
    return (BigInt(bytes) * weiPerByte() * percent + price * 100n - 1n) / (price * 100n)
  }

  async function estimateL1(call: CallJson): Promise<bigint> {
    const data = size(call.data ?? call.input ?? '0x')
    const authorizations = (call.authorizationList?.length ?? 0) * AUTHORIZATION_BYTES
    return l1GasOf(ENVELOPE_BYTES + data + authorizations, ESTIMATE_PERCENT)
  }

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

  async function rule(call: Call, next: Next): Promise<unknown> {
    const [first, ...rest] = call.params
    if (call.method === 'eth_call' && isNodeInterface(first)) return components(call, next)
    if (call.method === 'eth_estimateGas') {
      const l1 = await estimateL1(first as CallJson)
      return toHex(BigInt((await next(call)) as string) + l1)
    }
    // Tips buy nothing here.
    if (call.method === 'eth_maxPriorityFeePerGas') return '0x0'
    if (call.method === 'eth_gasPrice') return toHex(await basePrice())
    if (!RENAMED.has(call.method)) return next(call)
    const params = rest.length === call.params.length ? rest : [book.toNode(first), ...rest]
    return book.toClient(await next({ ...call, params }))
  }

  async function submit(tx: SignedTransaction, l1Gas: bigint): Promise<Hex> {
    const price = await basePrice()
    if (tx.feeCap < price) {
      const detail = `address ${tx.from}, maxFeePerGas: ${tx.feeCap} baseFee: ${price}`
      refuse(`max fee per gas less than block base fee: ${detail}`)
    }
    await ask('hardhat_impersonateAccount', tx.from)
    const inner = await ask<Hex>('eth_sendTransaction', requestOf(tx, tx.gas - l1Gas))
    await ask('hardhat_stopImpersonatingAccount', tx.from)
    book.add({ signed: tx, inner, l1Gas })
    return tx.hash
  }

  return {
    start: async () => {},
    rule,
    l1CostOf: async (tx) => ({ gas: await l1GasOf(tx.bytes), wei: 0n }),
    // It is inside the gas limit.
    l1WeiOf: () => 0n,
    asSigned: book.asSigned,
    submit: (tx, cost) => submit(tx, cost.gas),
    async settle(hashes) {
      const { baseFeeWei } = await given.heads.head()
      const owed = new Map<string, bigint>()
      for (const hash of hashes) {
        const entry = book.find(hash)
        if (!entry) continue
        const { from } = entry.signed
        owed.set(from, (owed.get(from) ?? 0n) + entry.l1Gas * baseFeeWei)
      }
      await charge(ask, owed)
    },
    reprice: async () => {},
    toClient: book.toClient,
  }
}

/** Methods that take or tell hashes of transactions. */
const RENAMED = new Set([
  'debug_traceTransaction',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_getLogs',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_pendingTransactions',
  'hardhat_dropTransaction',
])

function isNodeInterface(request: unknown): boolean {
  const to = (request as CallJson | undefined)?.to
  return typeof to === 'string' && to.toLowerCase() === NODE_INTERFACE
}

function requestOf(tx: SignedTransaction, gas: bigint): Record<string, unknown> {
  const authorizationList = tx.authorizations.map((authorization) => ({
    chainId: toHex(authorization.chainId),
    address: authorization.address,
    nonce: toHex(authorization.nonce),
    yParity: toHex(authorization.yParity),
    r: authorization.r,
    s: authorization.s,
  }))
  return {
    from: tx.from,
    to: tx.to ?? undefined,
    nonce: toHex(tx.nonce),
    gas: toHex(gas),
    maxFeePerGas: toHex(tx.feeCap),
    maxPriorityFeePerGas: '0x0',
    value: toHex(tx.value),
    data: tx.data,
    accessList: tx.accessList.length > 0 ? tx.accessList : undefined,
    authorizationList: authorizationList.length > 0 ? authorizationList : undefined,
  }
}
