/** The cost of one call in a provider's own unit. */
export type PriceList = { default: number; methods: Readonly<Record<string, number>> }

/** https://www.alchemy.com/docs/reference/compute-unit-costs, read in 2026: compute units. */
export const ALCHEMY_UNITS: PriceList = {
  default: 20,
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
    eth_subscription: 40,
    eth_syncing: 0,
    eth_uninstallFilter: 10,
    eth_unsubscribe: 10,
    net_version: 0,
  },
}

/** https://docs.metamask.io/services/get-started/pricing/credit-cost, read in 2026: credits. */
export const INFURA_CREDITS: PriceList = {
  default: 80,
  methods: {},
}

export function costIn(list: PriceList, method: string): number {
  return list.methods[method] ?? list.default
}
