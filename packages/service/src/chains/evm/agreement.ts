import { createTransport, type EIP1193RequestFn, type Hex, type Transport, toHex } from 'viem'
import { agree, reachedByMajority } from '../nodes/agree.ts'
import { NodeSilence } from '../nodes/silence.ts'
import { revertOf } from './attempt.ts'

type Call = { method: string; params?: unknown }

/**
 * Asks every node and returns the answer of a majority. The newest, safe or final block is the highest that a majority
 * has reached, so that enough nodes can answer questions about it.
 */
export function createAgreement(transports: readonly Transport[]): Transport {
  return (parameters) => {
    const nodes = transports.map((transport) => transport(parameters))
    const askAll = (call: Call) => nodes.map((node) => node.request(call as never) as Promise<unknown>)

    async function ask({ method, params }: Call): Promise<unknown> {
      const tag = nodes.length > 1 ? findTag({ method, params }) : undefined
      if (tag !== undefined) {
        const [, ...rest] = params as unknown[]
        return ask({ method, params: [toHex(await readHeight(tag)), ...rest] })
      }
      return agree(
        askAll({ method, params }),
        (answer) => JSON.stringify(essenceOf(method, answer)),
        revertOf,
      )
    }

    const readHeight = async (tag: string): Promise<bigint> => {
      if (tag === 'latest') return reachedByMajority(heightsOf(askAll({ method: 'eth_blockNumber' })), same)
      const blocks = askAll({ method: 'eth_getBlockByNumber', params: [tag, false] })
      return reachedByMajority(heightsOf(blocks), same)
    }

    return createTransport({
      key: 'agreement',
      name: 'Agreement of nodes',
      type: 'agreement',
      retryCount: 0,
      request: ask as EIP1193RequestFn,
    })
  }
}

const TAGS: unknown[] = ['latest', 'safe', 'finalized']

/** The block tag of the request, for tags that nodes reach at different times. */
function findTag({ method, params }: Call): string | undefined {
  const [tag] = method === 'eth_getBlockByNumber' && Array.isArray(params) ? params : []
  return TAGS.includes(tag) ? (tag as string) : undefined
}

const same = (height: bigint) => height

/** From heights or blocks; rejects for a node without the block. */
function heightsOf(answers: readonly Promise<unknown>[]): Promise<bigint>[] {
  return answers.map(async (asked) => {
    const answer = await asked
    if (answer === null) throw new NodeSilence('The node does not have this block')
    return BigInt(typeof answer === 'string' ? answer : (answer as { number: Hex }).number)
  })
}

type Fields = Record<string, unknown>

const BLOCK = ['number', 'hash', 'parentHash', 'timestamp', 'baseFeePerGas']
const LOG = ['address', 'topics', 'data', 'blockNumber', 'blockHash', 'transactionHash', 'logIndex']

/** The fields that have to match: clients add fields of their own, in different orders. */
function essenceOf(method: string, answer: unknown): unknown {
  if (method === 'eth_getBlockByNumber' && answer) return pick(answer as Fields, BLOCK)
  if (method === 'eth_getLogs') return essenceOfLogs(answer)
  if (method === 'eth_getTransactionReceipt' && answer) {
    const { blockHash, status, logs } = answer as Fields
    return [blockHash, status, essenceOfLogs(logs)]
  }
  return answer
}

function essenceOfLogs(logs: unknown): unknown[] {
  return (logs as Fields[]).map((log) => pick(log, LOG))
}

function pick(from: Fields, names: readonly string[]): unknown[] {
  return names.map((name) => from[name])
}
