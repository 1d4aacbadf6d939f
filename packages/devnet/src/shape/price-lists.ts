/** The cost of one call in a provider's unit, and of one byte of a notification if it differs. */
type PriceList = {
  default: number
  methods: Readonly<Record<string, number>>
  perNotifiedByte?: number
}

/** https://www.alchemy.com/docs/reference/compute-unit-costs, read in 2026: compute units. */
export const ALCHEMY_UNITS: PriceList = {
  default: 20,
  perNotifiedByte: 0.04,
  methods: {
    eth_accounts: 10,
    eth_blockNumber: 10,
    eth_call: 26,
    eth_chainId: 0,
    eth_createAccessList: 10,
    eth_feeHistory: 10,
    eth_getFilterLogs: 60,
    eth_getLogs: 60,
    eth_maxPriorityFeePerGas: 10,
    eth_sendRawTransaction: 40,
    eth_subscribe: 10,
    eth_syncing: 0,
    eth_uninstallFilter: 10,
    eth_unsubscribe: 10,
    net_version: 0,
  },
}

/**
 * https://docs.metamask.io/services/get-started/pricing/credit-cost, read in 2026: credits. A notification
 * costs the same as one of `newHeads`.
 */
export const INFURA_CREDITS: PriceList = {
  default: 80,
  methods: {
    eth_blobBaseFee: 300,
    eth_chainId: 5,
    eth_estimateGas: 300,
    eth_getBlockReceipts: 1_000,
    eth_getBlockTransactionCountByHash: 150,
    eth_getBlockTransactionCountByNumber: 150,
    eth_getFilterChanges: 140,
    eth_getFilterLogs: 255,
    eth_getLogs: 255,
    eth_getProof: 150,
    eth_getTransactionByBlockHashAndIndex: 150,
    eth_getTransactionByBlockNumberAndIndex: 150,
    eth_subscribe: 5,
    eth_subscription: 50,
    eth_syncing: 5,
    eth_unsubscribe: 10,
    net_version: 5,
  },
}

type Used = { method: string; calls: number; replyBytes: number }

export function costIn({ methods, perNotifiedByte, ...list }: PriceList, used: Used): number {
  if (perNotifiedByte && used.method === 'eth_subscription')
    return Math.ceil(used.replyBytes * perNotifiedByte)
  return used.calls * (methods[used.method] ?? list.default)
}
