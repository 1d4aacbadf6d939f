import { readerAbi, readerBytecode } from '@geoswap/protocol'
import {
  type Address,
  createTransport,
  decodeAbiParameters,
  type EIP1193RequestFn,
  encodeDeployData,
  type Hex,
  type PublicClient,
  RpcRequestError,
  size,
  type Transport,
  zeroAddress,
} from 'viem'
import { groupBy } from '../../swap/group.ts'

type Request = { method: string; params?: unknown }
type Asked = { target: Address; gas: bigint; data: Hex; at: unknown }
type Waiting = Asked & { resolve(answer: Hex): void; reject(error: unknown): void }
type Plain = { to: Address; gas: Hex; data: Hex }
type Ask = (request: Request) => Promise<unknown>

/** EIP-3860 allows init code of 49,152 bytes; EIP-170 allows a return of 24,576. A quote's answer takes 384. */
const LIMITS = { bytes: 40_000, calls: 60 }
// ABI overhead of one call besides its data: offset of the call, target, gas, offset and length of the data.
const OVERHEAD_BYTES = 5 * 32 + 31

const answersAbi = [
  {
    type: 'tuple[]',
    components: [
      { name: 'isOk', type: 'bool' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const

/**
 * Combines contract reads and balances of one tick and one block into one call, which runs a `Reader`. A read that
 * reverts fails alone, with its own revert data, and one with a gas limit keeps it. The block number is read in the
 * same call, so that it is that of the other answers. All other requests pass unchanged.
 */
export function createGathering(transport: Transport): Transport {
  return (parameters) => {
    const { request } = transport(parameters)
    const ask = request as Ask
    const gather = createGatherer(ask)
    return createTransport({
      key: 'gathering',
      name: 'Gathered reads',
      type: 'gathering',
      retryCount: 0,
      request: ((asked: Request) => {
        const read = toRead(asked)
        return read ? gather(read) : ask(asked)
      }) as EIP1193RequestFn,
    })
  }
}

/** Undefined for calls that a `Reader` cannot make: with a sender, a value or state overrides. */
function toRead({ method, params }: Request): Asked | undefined {
  if (method === 'eth_blockNumber') return { target: zeroAddress, gas: 0n, data: BLOCK_NUMBER, at: 'latest' }
  if (method === 'eth_getBalance') {
    const [target, at] = params as [Address, unknown]
    return { target, gas: 0n, data: '0x', at }
  }
  if (method !== 'eth_call') return undefined
  const [{ to, gas, data, ...others }, at, ...overrides] = params as [Partial<Plain>, unknown]
  const isPlain = Object.values(others).every((value) => value === undefined) && overrides.length === 0
  return isPlain && to && data && data !== '0x' ? { target: to, gas: BigInt(gas ?? 0), data, at } : undefined
}

// A `Reader` interprets one byte as a query for code and two as one for the block number; a plain client would call the
// account instead.
const CODE_START: Hex = '0x00'
const BLOCK_NUMBER: Hex = '0x0000'

/** The first 24 bytes of an account's code: a delegation has 23. Requires a gathering client. */
export async function readCodeStart(
  client: PublicClient,
  address: Address,
  blockNumber?: bigint,
): Promise<Hex | undefined> {
  const at = blockNumber === undefined ? {} : { blockNumber }
  return (await client.call({ to: address, data: CODE_START, ...at })).data
}

function createGatherer(ask: Ask): (asked: Asked) => Promise<Hex> {
  const waiting: Waiting[] = []
  const flush = () => {
    for (const [, sameBlock] of groupBy(waiting.splice(0), ({ at }) => JSON.stringify(at)))
      for (const part of partsOf(sameBlock)) void readTogether(ask, part)
  }
  return (asked) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ ...asked, resolve, reject })
    })
}

/** Parts in the order of the requests, each small enough for one call. */
function partsOf<T extends { data: Hex }>(asked: readonly T[]): T[][] {
  const parts: T[][] = []
  let bytes = 0
  for (const each of asked) {
    const needs = size(each.data) + OVERHEAD_BYTES
    const last = parts.at(-1)
    if (!last || last.length >= LIMITS.calls || bytes + needs > LIMITS.bytes) {
      parts.push([each])
      bytes = size(readerBytecode) + needs
      continue
    }
    last.push(each)
    bytes += needs
  }
  return parts
}

async function readTogether(ask: Ask, part: readonly Waiting[]): Promise<void> {
  try {
    const calls = part.map(({ target, gas, data }) => ({ target, gas, data }))
    const data = encodeDeployData({ abi: readerAbi, bytecode: readerBytecode, args: [calls] })
    const output = (await ask({ method: 'eth_call', params: [{ data }, part[0]?.at] })) as Hex
    const [answers] = decodeAbiParameters(answersAbi, output)
    for (const [index, each] of part.entries()) settle(each, answers[index])
  } catch (error) {
    for (const { reject } of part) reject(error)
  }
}

function settle(each: Waiting, answer: { isOk: boolean; data: Hex } | undefined): void {
  if (answer?.isOk) {
    each.resolve(answer.data)
    return
  }
  const error = { code: 3, message: 'execution reverted', data: answer?.data ?? '0x' }
  each.reject(new RpcRequestError({ body: { method: 'eth_call' }, error, url: 'gathered' }))
}
