import { setTimeout as delay } from 'node:timers/promises'
import {
  BaseError,
  createTransport,
  type EIP1193RequestFn,
  type Hex,
  RpcRequestError,
  type Transport,
  toHex,
} from 'viem'
import { groupBy } from '../../swap/group.ts'
import {
  agree,
  causesOf,
  majorityOf,
  NoAgreementError,
  NodeSilence,
  reachedByMajority,
} from '../nodes/agree.ts'
import { revertOf } from './attempt.ts'

type Call = { method: string; params?: unknown }

/**
 * Asks every node and returns the answer of a majority. The newest, safe or final block is the highest that a majority
 * has reached, so that enough nodes can answer questions about it. Nodes that name it alike are not asked again.
 */
export function createAgreement(transports: readonly Transport[]): Transport {
  return (parameters) => {
    const nodes = transports.map((transport) => transport(parameters))
    const askAll = (call: Call) => nodes.map((node) => node.request(call as never) as Promise<unknown>)

    async function ask({ method, params }: Call): Promise<unknown> {
      const tag = nodes.length > 1 ? findTag({ method, params }) : undefined
      if (tag !== undefined) return askNewest(method, tag, (params as unknown[]).slice(1))
      return agree(
        askAll({ method, params }),
        (answer) => JSON.stringify(essenceOf(method, answer)),
        revertOf,
      )
    }

    async function askNewest(method: string, tag: string, rest: unknown[]): Promise<unknown> {
      const answered: unknown[] = []
      const asked = askAll({ method, params: [tag, ...rest] }).map(async (asking) => {
        const answer = await asking
        answered.push(answer)
        return answer
      })
      const height = toHex(await reachedByMajority(heightsOf(asked), same))
      const there = answered.filter((answer) => (answer as Fields | null)?.['number'] === height)
      const alike = groupBy(there, (answer) => JSON.stringify(essenceOf(method, answer)))
      const [block] = [...alike.values()].find(({ length }) => length >= majorityOf(nodes.length)) ?? []
      return block ?? ask({ method, params: [height, ...rest] })
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

class BlockAbsent extends NodeSilence {}

/** Of blocks; rejects for a node without the block. */
function heightsOf(answers: readonly Promise<unknown>[]): Promise<bigint>[] {
  return answers.map(async (asked) => {
    const answer = await asked
    if (answer === null) throw new BlockAbsent('The node does not have this block')
    return BigInt((answer as { number: Hex }).number)
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

// A contract reverted: every node would answer so.
const REVERTED = 3

/** Asks one node, and the next if it fails. If all fail, an answer says more than a broken connection. */
export function createFallback(transports: readonly Transport[]): Transport {
  return (parameters) => {
    const nodes = transports.map((transport) => transport(parameters))

    async function ask(body: unknown): Promise<unknown> {
      const errors: unknown[] = []
      for (const { request } of nodes) {
        try {
          return await request(body as never)
        } catch (error) {
          if (hasReverted(error)) throw error
          errors.push(error)
        }
      }
      throw errors.find((error) => findAnswer(error)) ?? errors.at(-1)
    }

    return createTransport({
      key: 'fallback',
      name: 'One node after the other',
      type: 'fallback',
      retryCount: 0,
      request: ask as EIP1193RequestFn,
    })
  }
}

function hasReverted(error: unknown): boolean {
  const answer = findAnswer(error)
  return answer !== undefined && (answer.code === REVERTED || typeof answer.data === 'string')
}

function findAnswer(error: unknown): RpcRequestError | undefined {
  const found =
    error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : undefined
  return found instanceof RpcRequestError ? found : undefined
}

// Words of go-ethereum, Erigon, Reth, Nethermind and Hardhat for a block that a backend does not have yet.
const UNKNOWN_BLOCK =
  /header (for hash )?not found|block .*(not found|not available)|(unknown|invalid) block|could not find block/i

export const saysUnknownBlock = (message: string): boolean => UNKNOWN_BLOCK.test(message)

/** Whether a read failed because the backend that answered lags the one that named the block. */
export function isUnknownBlock(error: unknown): boolean {
  return error instanceof BaseError && error.walk((each) => saysUnknownBlock(detailsOf(each))) !== null
}

const detailsOf = (error: unknown) => (error instanceof BaseError ? error.details : '')

const RETRY_MS = 250

/**
 * Asks again while the backends that answer do not have the block yet, or differ since they are at different ones. All
 * calls share one time: once it is over, none waits before one of them has had an answer.
 */
export function withPatience(transport: Transport, patienceMs: number): Transport {
  let end = Number.POSITIVE_INFINITY
  return (parameters) => {
    const { request } = transport(parameters)

    async function ask(call: Call): Promise<unknown> {
      const ownEnd = performance.now() + patienceMs
      for (;;) {
        const answer = await settle(request(call as never))
        if (!isBehind(call, answer)) {
          end = Number.POSITIVE_INFINITY
          return toResult(answer)
        }
        end = Math.min(end, performance.now() + patienceMs)
        if (performance.now() >= Math.min(end, ownEnd)) return toResult(answer)
        await delay(RETRY_MS)
      }
    }

    return createTransport({
      key: 'patience',
      name: 'Nodes whose backends lag',
      type: 'patience',
      retryCount: 0,
      request: ask as EIP1193RequestFn,
    })
  }
}

type Settled = { value: unknown } | { error: unknown }

const settle = (asked: Promise<unknown>): Promise<Settled> =>
  asked.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )

function toResult(answer: Settled): unknown {
  if ('error' in answer) throw answer.error
  return answer.value
}

/** A chain may have no final block yet, but it has its newest one, and one that another answer named. */
function isBehind({ method, params }: Call, answer: Settled): boolean {
  const isOfBlock =
    method === 'eth_getBlockByNumber' && /^(latest|0x.+)$/.test(String((params as unknown[])[0]))
  if (!('error' in answer)) return answer.value === null && isOfBlock
  const { error } = answer
  const causes = causesOf(error)
  if (causes.some((cause) => cause instanceof NoAgreementError)) return true
  if (isOfBlock && causes.some((cause) => cause instanceof BlockAbsent)) return true
  return isUnknownBlock(error) && revertOf(error) === undefined
}
