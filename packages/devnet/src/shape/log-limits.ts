import { filterOf, numberOf } from './block-params.ts'
import { RpcError, type Rule } from './call.ts'
import type { LogLimits, LogRefusal } from './evm-shape.ts'
import type { Heads } from './heads.ts'

type Wording = { code: number; message: (blocks: number) => string }

// Texts and codes that providers answer today; a client has to know them by their sense.
const WORDINGS: Readonly<Record<LogRefusal, Wording>> = {
  // go-ethereum eth/filters/filter.go, with --rpc.rangelimit
  'range-32602': { code: -32_602, message: (blocks) => `exceed maximum block range ${blocks}` },
  // https://docs.erpc.cloud/reference/evm/getlogs-splitting lists the wordings of providers; public OP nodes
  'range-32005': { code: -32_005, message: () => 'query exceeds max block range' },
  // https://www.alchemy.com/docs/reference/eth-getlogs
  'range-32600': {
    code: -32_600,
    message: (blocks) => `You can make eth_getLogs requests with up to a ${blocks} block range.`,
  },
}
// https://docs.metamask.io/services/reference/ethereum/json-rpc-methods/eth_getlogs
const TOO_MANY_RESULTS = -32_005

/** A range of blocks or a number of results above the provider's limit is refused as a whole. */
export function limitLogs(limits: LogLimits, heads: Heads): Rule {
  return async (call, next) => {
    if (call.method !== 'eth_getLogs') return next(call)
    const filter = filterOf(call)
    if (filter && filter.blockHash === undefined) {
      const head = (await heads.head()).number - call.lag
      const from = blockOf(filter.fromBlock, head)
      const to = blockOf(filter.toBlock, head)
      if (to - from + 1 > limits.blocks) {
        const { code, message } = WORDINGS[limits.refusal]
        throw new RpcError(code, message(limits.blocks))
      }
    }
    const found = await next(call)
    if (Array.isArray(found) && found.length > limits.results) {
      throw new RpcError(TOO_MANY_RESULTS, `query returned more than ${limits.results} results`)
    }
    return found
  }
}

function blockOf(param: unknown, head: number): number {
  if (param === 'earliest') return 0
  return numberOf(param) ?? head
}
