import {
  BaseError,
  BlockNotFoundError,
  CallExecutionError,
  ContractFunctionExecutionError,
  ContractFunctionRevertedError,
  HttpRequestError,
  type PublicClient,
  RpcRequestError,
  TimeoutError,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem'

/** `name`: of the contract's error; empty without one. `odd`: not an answer to what was asked. */
type Attempt<T> = { kind: 'ok'; result: T } | { kind: 'refused'; name: string } | { kind: 'odd' }

// The precompile that returns its input: it never fails.
const IDENTITY = '0x0000000000000000000000000000000000000004'

/**
 * Runs a call whose success somebody's code decides. That code may revert, burn its gas, run an invalid instruction or
 * answer something else: each is a value. Throws only if the node is silent. Nodes differ in the code and words
 * of a failed call without revert data. So such a call counts as refused if the node answers another one at this block,
 * and fails this one again.
 */
export async function attempt<T>(
  client: Pick<PublicClient, 'call'>,
  call: () => Promise<T>,
  blockNumber?: bigint,
): Promise<Attempt<T>> {
  const first = await tryOnce(call)
  if (first.kind !== 'unclear') return first
  await client.call({ to: IDENTITY, data: '0x01', blockNumber })
  const second = await tryOnce(call)
  return second.kind === 'unclear' ? { kind: 'refused', name: '' } : second
}

/** Undefined if the contract does not answer as expected, or is not there. */
export async function orUndefined<T>(
  client: Pick<PublicClient, 'call'>,
  call: () => Promise<T>,
  blockNumber?: bigint,
): Promise<T | undefined> {
  const tried = await attempt(client, call, blockNumber)
  return tried.kind === 'ok' ? tried.result : undefined
}

async function tryOnce<T>(call: () => Promise<T>): Promise<Attempt<T> | { kind: 'unclear' }> {
  try {
    return { kind: 'ok', result: await call() }
  } catch (error) {
    const name = refusalOf(error)
    if (name !== undefined) return { kind: 'refused', name }
    if (isMisfit(error)) return { kind: 'odd' }
    if (isUnclear(error)) return { kind: 'unclear' }
    throw error
  }
}

// JSON-RPC codes of a call that ran: of go-ethereum, with revert data, and of others without.
const REVERTED = 3
const FAILED_CODES = [-32_000, -32_015, -32_603]
// The words of most nodes; those of the others are tried twice.
const EXHAUSTED = /out ?of ?gas/i

/**
 * The name of the contract's error, or an empty one, if the node says that the call ran and failed; undefined if it
 * does not. viem calls every internal error of a node a revert, so only the node's own answer counts.
 */
function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof BaseError)) return undefined
  const revert = findIn(error, ContractFunctionRevertedError)
  if (revert?.data) return revert.data.errorName
  const answer = findIn(error, RpcRequestError)
  const hasReverted = isHex(revert?.raw) || answer?.code === REVERTED || isHex(answer?.data)
  const isExhausted = isUnclear(error) && EXHAUSTED.test(answer?.details ?? '')
  return hasReverted || isExhausted ? '' : undefined
}

/** The data that a call reverted with, if the node says that it did. */
export function revertOf(error: unknown): string | undefined {
  if (refusalOf(error) === undefined || !(error instanceof BaseError)) return undefined
  return String(findIn(error, RpcRequestError)?.data ?? '')
}

/** The node answered, and viem cannot read the answer as the type that was asked for. */
function isMisfit(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const hasFailed = findIn(error, ContractFunctionRevertedError) ?? findIn(error, CallExecutionError)
  return !hasFailed && findIn(error, ContractFunctionExecutionError) !== undefined
}

function isUnclear(error: unknown): boolean {
  return error instanceof BaseError && FAILED_CODES.includes(findIn(error, RpcRequestError)?.code ?? 0)
}

// biome-ignore lint/suspicious/noExplicitAny: the constructors of viem differ
function findIn<E extends Error>(error: BaseError, kind: new (...args: any[]) => E): E | undefined {
  const found = error.walk((cause) => cause instanceof kind)
  return found instanceof kind ? found : undefined
}

const isHex = (data: unknown) => typeof data === 'string' && data.startsWith('0x')

/** Whether an error says that a contract refused, or is odd. For calls of code that is known to be there. */
const isOfContract = (error: unknown) => refusalOf(error) !== undefined || isMisfit(error)

const SILENT = [
  HttpRequestError,
  TimeoutError,
  RpcRequestError,
  BlockNotFoundError,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
]

/** Whether an error of viem says that a node was silent, and not that a contract refused or is odd. */
export function isEvmSilence(error: unknown): boolean {
  if (!(error instanceof BaseError) || isOfContract(error)) return false
  return error.walk((cause) => SILENT.some((kind) => cause instanceof kind)) !== null
}
