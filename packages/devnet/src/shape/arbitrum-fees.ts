import { getAddress, type Hex } from 'viem'
import { type CallJson, createArbitrumEstimates, type Prices } from './arbitrum-estimates.ts'
import { type Ask, type Call, type Next, refuse, toHex } from './call.ts'
import { charge, type Fees } from './fee-system.ts'
import type { Heads } from './heads.ts'
import { NODE_INTERFACE } from './node-interface.ts'
import type { SignedTransaction } from './signed-transaction.ts'
import { createTransactionMap } from './transaction-map.ts'

type Given = Prices & { ask: Ask; heads: Heads }

/**
 * Arbitrum: the L1 part is gas of the transaction itself, so its limit covers both. The underlying node
 * receives each transaction from an impersonated sender, with the limit less the L1 part and without a tip.
 * The book maps its hash. https://docs.arbitrum.io/how-arbitrum-works/deep-dives/gas-and-fees
 */
export function createArbitrumFees(given: Given): Fees {
  const { ask, basePrice } = given
  const book = createTransactionMap()
  const { l1GasOf, estimateL1, components } = createArbitrumEstimates(given)

  async function rule(call: Call, next: Next): Promise<unknown> {
    const [first, ...rest] = call.params
    if (call.method === 'eth_call' && isNodeInterface(first)) return components(call, next)
    if (call.method === 'eth_estimateGas') {
      const l1 = await estimateL1(first as CallJson)
      return toHex(BigInt((await next(call)) as string) + l1)
    }
    // Tips have no effect here.
    if (call.method === 'eth_maxPriorityFeePerGas') return '0x0'
    if (call.method === 'eth_gasPrice') return toHex(await basePrice())
    if (!RENAMED.has(call.method)) return next(call)
    const params = rest.length === call.params.length ? rest : [book.toNode(first), ...rest]
    return book.toClient(await next({ ...call, params }))
  }

  async function settle(hashes: readonly Hex[]): Promise<void> {
    const { baseFeeWei } = await given.heads.head()
    const owed = new Map<string, bigint>()
    for (const hash of hashes) {
      const entry = book.find(hash)
      if (!entry) continue
      const { from } = entry.signed
      owed.set(from, (owed.get(from) ?? 0n) + entry.l1Gas * baseFeeWei)
    }
    await charge(ask, owed)
  }

  return {
    start: async () => {},
    rule,
    l1CostOf: async (tx) => ({ gas: await l1GasOf(tx.bytes), wei: 0n }),
    // The L1 part is inside the gas limit.
    l1WeiOf: () => 0n,
    asSigned: book.asSigned,
    async submit(tx, { gas: l1Gas }) {
      checkFeeCap(tx, await basePrice())
      const inner = await sendAs(ask, tx, tx.gas - l1Gas)
      book.add({ signed: tx, inner, l1Gas })
      return tx.hash
    },
    settle,
    reprice: async () => {},
    toClient: book.toClient,
  }
}

/** Methods with transaction hashes in parameters or replies. */
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

function checkFeeCap({ from, feeCap }: SignedTransaction, price: bigint): void {
  if (feeCap >= price) return
  // go-ethereum core/state_transition.go
  const detail = `address ${getAddress(from)}, maxFeePerGas: ${feeCap}, baseFee: ${price}`
  refuse(`max fee per gas less than block base fee: ${detail}`)
}

async function sendAs(ask: Ask, tx: SignedTransaction, gas: bigint): Promise<Hex> {
  await ask('hardhat_impersonateAccount', tx.from)
  try {
    return await ask<Hex>('eth_sendTransaction', requestOf(tx, gas))
  } finally {
    await ask('hardhat_stopImpersonatingAccount', tx.from)
  }
}

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
