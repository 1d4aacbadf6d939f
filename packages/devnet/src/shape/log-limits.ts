import { filterOf, numberOf } from './block-params.ts'
import { RpcError, type Rule, toHex } from './call.ts'
import type { LogLimits, LogRefusal } from './evm-shape.ts'
import type { Heads } from './heads.ts'

type Range = { from: number; to: number; limit: number }
type Wording = { code: number; message: (range: Range) => string }

// Messages and codes of providers; a client has to recognise them.
const WORDINGS: Readonly<Record<LogRefusal, Wording>> = {
  // go-ethereum eth/filters/filter.go, with --rpc.rangelimit
  geth: { code: -32_602, message: ({ limit }) => `exceed maximum block range ${limit}` },
  // https://github.com/INFURA/infura/issues/237
  infura: {
    code: -32_602,
    message: ({ from, to, limit }) => `range ${to - from} exceeds limit of ${limit}`,
  },
  // https://github.com/BobTheBuidler/dank_mids/issues/772
  alchemy: {
    code: -32_600,
    message: ({ from, limit }) =>
      `You can make eth_getLogs requests with up to a ${limit} block range. Based on your parameters, ` +
      `this block range should work: [${toHex(from)}, ${toHex(from + limit - 1)}]`,
  },
}
// https://docs.metamask.io/services/reference/ethereum/json-rpc-methods/eth_getlogs
const TOO_MANY_RESULTS = -32_005

/** Refuses a range of blocks or a number of results above the provider's limit. */
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
        throw new RpcError(code, message({ from, to, limit: limits.blocks }))
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
