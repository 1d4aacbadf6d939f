// The views that a wrong node may have instead of the chain.

export type Call = { id?: unknown; method?: string; params?: unknown[] }
export type Answer = { id?: unknown; result?: unknown; error?: unknown }

export type View =
  /** Some blocks behind. */
  | { kind: 'stale'; at: number }
  /** On its own blocks since this one: later events did not happen there. */
  | { kind: 'forked'; at: number }
  /** Far ahead, with other blocks, and without any events. */
  | { kind: 'lying' }

const LEAD = 1_000
/** The position of a method's block parameter. */
const BLOCK_PARAM: Record<string, number> = {
  ...{ eth_getBlockByNumber: 0, eth_getTransactionCount: 1, eth_getBalance: 1, eth_getCode: 1, eth_call: 1 },
}
const UNKNOWN = { code: -32000, message: 'header not found' }

/** The request to the true node whose answer equals this node's. */
export function askedBy(view: View, call: Call): Call {
  const index = BLOCK_PARAM[call.method ?? '']
  const block = index === undefined ? undefined : call.params?.[index]
  if (view.kind === 'lying' || index === undefined || block === undefined) return call
  const isOwn = view.kind === 'forked' && call.method !== 'eth_getBlockByNumber'
  const isAsked = block === 'latest' ? view.kind === 'stale' || isOwn : isOwn && isPast(view.at, block)
  if (!isAsked) return call
  return { ...call, params: call.params?.with(index, toHex(view.at)) ?? [] }
}

/** Changes the true answer to this node's. */
export function toldBy(view: View, call: Call, answer: Answer): Answer {
  if (answer.error !== undefined) return answer
  if (view.kind === 'lying') return lie(call, answer)
  return view.kind === 'stale' ? toldLate(view.at, call, answer) : toldApart(view.at, call, answer)
}

function toldLate(at: number, call: Call, answer: Answer): Answer {
  if (call.method === 'eth_blockNumber') return { ...answer, result: toHex(at) }
  if (call.method === 'eth_getLogs') return withoutLogsPast(at, answer)
  const index = BLOCK_PARAM[call.method ?? '']
  if (index === undefined || !isPast(at, call.params?.[index])) return answer
  if (call.method === 'eth_getBlockByNumber') return { ...answer, result: null }
  return { id: answer.id, error: UNKNOWN }
}

type Fields = Record<string, unknown>

function toldApart(at: number, { method }: Call, answer: Answer): Answer {
  const { result } = answer
  if (method === 'eth_getLogs') return withoutLogsPast(at, answer)
  if (method !== 'eth_getBlockByNumber' || result === null) return answer
  const block = result as Fields
  if (!isPast(at, block.number)) return answer
  return { ...answer, result: { ...block, hash: otherHash(block.hash), transactions: [] } }
}

function withoutLogsPast(at: number, answer: Answer): Answer {
  return { ...answer, result: (answer.result as Fields[]).filter((log) => !isPast(at, log.blockNumber)) }
}

const none = (result: unknown) => ({
  ...(result as object),
  value: (result as { value: [] }).value.map(() => null),
})

const LIES: Record<string, (truth: unknown) => unknown> = {
  eth_blockNumber: (truth) => toHex(Number(truth) + LEAD),
  eth_getBlockByNumber: (truth) => truth && { ...(truth as Fields), hash: otherHash((truth as Fields).hash) },
  eth_getLogs: () => [],
  eth_getTransactionCount: (truth) => toHex(Number(truth) + LEAD),
  eth_getTransactionReceipt: () => null,
  eth_call: (truth) => `0x${'0'.repeat(String(truth).length - 2)}`,
  // With the true slot, so that its height is not ignored for being ahead of all others.
  getEpochInfo: (truth) => {
    const { blockHeight } = truth as { blockHeight: number }
    return { ...(truth as Fields), blockHeight: blockHeight + LEAD }
  },
  getLatestBlockhash: (truth) => {
    const { value } = truth as { value: Fields }
    return { ...(truth as Fields), value: { ...value, lastValidBlockHeight: 1 } }
  },
  getMultipleAccounts: none,
  getSignatureStatuses: none,
  getSignaturesForAddress: () => [],
  getTransaction: () => null,
}

function lie({ method }: Call, answer: Answer): Answer {
  const twist = LIES[method ?? '']
  return twist ? { ...answer, result: twist(answer.result) } : answer
}

const toHex = (number: number) => `0x${number.toString(16)}`
const isPast = (at: number, block: unknown) =>
  typeof block === 'string' && /^0x/.test(block) && Number(block) > at
const otherHash = (hash: unknown) => `0x66${String(hash).slice(4)}`
