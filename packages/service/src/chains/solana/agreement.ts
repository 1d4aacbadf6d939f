import type { RpcTransport } from '@solana/kit'
import { stringifyJsonWithBigInts } from '@solana/rpc-spec-types'
import { agree, majorityOf, NoAgreementError, NodeSilence, reachedByMajority } from '../nodes/agree.ts'

type Fields = Record<string, unknown>
type Answer = { result?: unknown; error?: { message?: string } }

/**
 * Asks every node and returns the answer of a majority; for heights, the highest that a majority has reached. A node
 * that answers with an error, for instance because it is behind, has no vote.
 */
export function createAgreement(transports: readonly RpcTransport[]): RpcTransport {
  const [only] = transports
  if (only && transports.length === 1) return only
  return (async (call: Parameters<RpcTransport>[0]) => {
    const { method } = call.payload as { method: string }
    const asked = transports.map(async (transport) => {
      const answer = (await transport(call)) as Answer
      if (answer.error) throw new NodeSilence(`${method}: ${answer.error.message}`)
      return answer
    })
    if (method === 'getEpochInfo') return reachedEpoch(asked)
    if (method === 'getLatestBlockhash') return reachedBlockhash(asked)
    const same = agree(asked, ({ result }) => stringifyJsonWithBigInts(essenceOf(method, result)))
    return method === 'getSignaturesForAddress' ? same.catch((error) => listedByMajority(asked, error)) : same
  }) as RpcTransport
}

type Epoch = { absoluteSlot: bigint; blockHeight: bigint }

/** Slot and height separately: a node may be right about one and lie about the other. */
async function reachedEpoch(asked: readonly Promise<Answer>[]): Promise<Answer> {
  const epochOf = ({ result }: Answer) => result as Epoch
  const [slot, height] = await Promise.all([
    reachedByMajority(asked, (answer) => BigInt(epochOf(answer).absoluteSlot)),
    reachedByMajority(asked, (answer) => BigInt(epochOf(answer).blockHeight)),
  ])
  return { ...slot, result: { ...epochOf(slot), blockHeight: epochOf(height).blockHeight } }
}

type Latest = { context: { slot: bigint }; value: { blockhash: string; lastValidBlockHeight: bigint } }

/** A majority decides slot and last height, each by itself. A wrong blockhash is harmless: nothing lands with it. */
async function reachedBlockhash(asked: readonly Promise<Answer>[]): Promise<Answer> {
  const latestOf = ({ result }: Answer) => result as Latest
  const [slot, height] = await Promise.all([
    reachedByMajority(asked, (answer) => BigInt(latestOf(answer).context.slot)),
    reachedByMajority(asked, (answer) => BigInt(latestOf(answer).value.lastValidBlockHeight)),
  ])
  const { lastValidBlockHeight } = latestOf(height).value
  const { context, value } = latestOf(slot)
  return { ...slot, result: { context, value: { ...value, lastValidBlockHeight } } }
}

/**
 * Of a busy account, nodes list different newest transactions at any moment. Those that a majority lists are right; the
 * page is then shorter than asked for.
 */
async function listedByMajority(asked: readonly Promise<Answer>[], error: unknown): Promise<Answer> {
  if (!(error instanceof NoAgreementError)) throw error
  const settled = await Promise.allSettled(asked)
  const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const nameOf = (entry: Fields) => stringifyJsonWithBigInts(pick(entry, LANDED))
  const votes = new Map<string, number>()
  for (const { result } of answers) {
    for (const name of new Set((result as Fields[]).map(nameOf))) votes.set(name, (votes.get(name) ?? 0) + 1)
  }
  const needed = majorityOf(asked.length)
  const all = new Map(
    answers.flatMap(({ result }) => (result as Fields[]).map((each) => [nameOf(each), each])),
  )
  const agreed = [...all].flatMap(([name, entry]) => ((votes.get(name) ?? 0) >= needed ? [entry] : []))
  if (agreed.length === 0) throw error
  const slotOf = ({ slot }: Fields) => Number(slot)
  return { ...answers[0], result: agreed.sort((a, b) => slotOf(b) - slotOf(a)) }
}

const LANDED = ['signature', 'slot', 'err', 'memo']
const STATUS = ['slot', 'err']
const META = [
  'err',
  'preBalances',
  'postBalances',
  'preTokenBalances',
  'postTokenBalances',
  'innerInstructions',
  'loadedAddresses',
]

/** The fields that have to match: each node answers at its own slot and adds its own fields. */
function essenceOf(method: string, result: unknown): unknown {
  if (result === null || typeof result !== 'object') return result
  if (method === 'getSignaturesForAddress') return (result as Fields[]).map((each) => pick(each, LANDED))
  if (method === 'getTransaction') {
    const { slot, transaction, meta } = result as { slot: unknown; transaction: unknown; meta: Fields }
    return [slot, transaction, pick(meta, META)]
  }
  if (!('value' in result)) return result
  if (method !== 'getSignatureStatuses') return result.value
  return (result.value as (Fields | null)[]).map(
    // Nodes may differ in the status of a transaction that is not final yet.
    (status) => status?.confirmationStatus === 'finalized' && pick(status, STATUS),
  )
}

function pick(from: Fields, names: readonly string[]): unknown[] {
  return names.map((name) => from[name])
}
