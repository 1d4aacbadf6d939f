import type { Call } from './call.ts'

/** The position of a method's block parameter, and whether the method reads state. */
const BLOCK_PARAMS: Readonly<Record<string, { at: number; state: boolean }>> = {
  debug_traceCall: { at: 1, state: true },
  eth_call: { at: 1, state: true },
  eth_createAccessList: { at: 1, state: true },
  eth_estimateGas: { at: 1, state: true },
  eth_feeHistory: { at: 1, state: false },
  eth_getBalance: { at: 1, state: true },
  eth_getBlockByNumber: { at: 0, state: false },
  eth_getBlockReceipts: { at: 0, state: false },
  eth_getBlockTransactionCountByNumber: { at: 0, state: false },
  eth_getCode: { at: 1, state: true },
  eth_getProof: { at: 2, state: true },
  eth_getStorageAt: { at: 2, state: true },
  eth_getTransactionByBlockNumberAndIndex: { at: 0, state: false },
  eth_getTransactionCount: { at: 1, state: true },
}
const FILTERS = ['eth_getLogs', 'eth_newFilter']

type LogFilter = { fromBlock?: unknown; toBlock?: unknown; blockHash?: unknown }

export function blockParamOf(method: string): { at: number; state: boolean } | undefined {
  return BLOCK_PARAMS[method]
}

export function filterOf(call: Call): LogFilter | undefined {
  const [filter] = call.params
  return FILTERS.includes(call.method) && typeof filter === 'object' && filter !== null ? filter : undefined
}

/**
 * The number in a parameter, plain or as an EIP-1898 object; undefined for a tag, a hash or anything else.
 */
export function numberOf(param: unknown): number | undefined {
  if (typeof param === 'string' && /^0x[0-9a-f]{1,12}$/i.test(param)) return Number(param)
  if (typeof param !== 'object' || param === null || !('blockNumber' in param)) return undefined
  return numberOf(param.blockNumber)
}

/** Returns the call with `change` applied to every block that it names. */
export async function withBlocks(call: Call, change: (block: unknown) => unknown): Promise<Call> {
  const filter = filterOf(call)
  if (filter) {
    if (filter.blockHash !== undefined) return call
    const changed = {
      ...filter,
      fromBlock: await change(filter.fromBlock),
      toBlock: await change(filter.toBlock),
    }
    return { ...call, params: [changed, ...call.params.slice(1)] }
  }
  const place = blockParamOf(call.method)
  if (!place) return call
  const params = [...call.params]
  params[place.at] = await change(params[place.at])
  return params[place.at] === undefined ? call : { ...call, params }
}
