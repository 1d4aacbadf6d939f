import type { RpcTransport } from '@solana/kit'
import { stringifyJsonWithBigInts } from '@solana/rpc-spec-types'
import { groupBy } from '../../model/group.ts'

// Agave's MAX_MULTIPLE_ACCOUNTS.
export const MAX_ACCOUNTS = 100

type Call = Parameters<RpcTransport>[0]
type Payload = { method: string; params: [addresses: string[], options: unknown] }
type Answer = { result?: { value: unknown[] } }
type Waiting = { call: Call; resolve(answer: unknown): void; reject(error: unknown): void }

const payloadOf = ({ payload }: Call) => payload as Payload
const addressesOf = ({ call }: Pick<Waiting, 'call'>) => payloadOf(call).params[0]

/** Combines reads of accounts in one tick and with equal options into one call. All others pass unchanged. */
export function gatherAccounts(transport: RpcTransport): RpcTransport {
  let waiting: Waiting[] = []
  const flush = () => {
    const taken = waiting
    waiting = []
    const optionsOf = ({ call }: Waiting) => stringifyJsonWithBigInts(payloadOf(call).params[1])
    for (const [, alike] of groupBy(taken, optionsOf))
      for (const part of partsOf(alike)) void readTogether(transport, part)
  }
  return ((call: Call) => {
    if (payloadOf(call).method !== 'getMultipleAccounts') return transport(call)
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ call, resolve, reject })
    })
  }) as RpcTransport
}

/** Parts that each fit into one call. */
function partsOf(waiting: readonly Waiting[]): Waiting[][] {
  const parts: { addresses: Set<string>; waiting: Waiting[] }[] = []
  for (const each of waiting) {
    const last = parts.at(-1)
    const addresses = new Set([...(last?.addresses ?? []), ...addressesOf(each)])
    if (last && addresses.size <= MAX_ACCOUNTS) {
      last.addresses = addresses
      last.waiting.push(each)
    } else parts.push({ addresses: new Set(addressesOf(each)), waiting: [each] })
  }
  return parts.map((part) => part.waiting)
}

async function readTogether(transport: RpcTransport, part: readonly Waiting[]): Promise<void> {
  const [first] = part
  if (!first) return
  const addresses = [...new Set(part.flatMap(addressesOf))]
  const { method, params, ...envelope } = payloadOf(first.call)
  try {
    const payload = { ...envelope, method, params: [addresses, params[1]] }
    const answer = (await transport({ payload })) as Answer
    for (const each of part) each.resolve(answerFor(addressesOf(each), addresses, answer))
  } catch (error) {
    for (const { reject } of part) reject(error)
  }
}

/** An answer without a result is an error, which all of them receive. */
function answerFor(wanted: readonly string[], read: readonly string[], answer: Answer): Answer {
  const { result } = answer
  if (!result) return answer
  return { ...answer, result: { ...result, value: wanted.map((each) => result.value[read.indexOf(each)]) } }
}
