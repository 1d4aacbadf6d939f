import { type Address, getAddress } from 'viem'
import type { Client } from '../client.ts'
import { GeoswapError, type Submission, SwapRefusedError } from '../errors.ts'
import { sleep } from '../retry.ts'
import type { EvmSigner, Signer } from '../signers.ts'
import { isGone } from '../submission.ts'
import type { EndedSwap } from '../wait.ts'
import type { X402Plan, X402Source } from './choose.ts'
import { quoted, X402Error } from './errors.ts'
import { findSame, readDemand, readReceipt, type X402Demand } from './offers.ts'
import {
  createPayment,
  readNow,
  readToken,
  readUse,
  standingOf,
  toHeader,
  toTypedData,
  type X402Payment,
} from './payment.ts'
import { planPayment, swapFor } from './plan.ts'
import { type Answer, type Ask, ask, assertPayable, keyOf, type X402Request } from './request.ts'

export {
  byValue,
  usdValueOf,
  type X402Plan,
  type X402Source,
  type X402Swap,
  type X402Token,
} from './choose.ts'
export { type X402Code, X402Error, type X402Standing } from './errors.ts'
export type { X402Demand, X402Offer } from './offers.ts'
export type { X402Payment } from './payment.ts'
export { keyOf as x402KeyOf, type X402Request } from './request.ts'

/** A swap or payment that was begun for a request, and has to be finished before anything else is signed for it. */
export type X402Note = { swap?: Submission | string | undefined; payment?: X402Payment | undefined }

/** Stores what was begun, by the key of the request. A `Map` is one. */
export type X402Store = {
  get(key: string): X402Note | undefined
  set(key: string, note: X402Note): unknown
  delete(key: string): unknown
}

/** Makes the swap before a payment. `keep` stores what continues it after a crash; `resume` gets that. */
export type X402Swapper = {
  start(plan: X402Plan, keep: (left: Submission | string) => void): Promise<EndedSwap>
  resume(left: Submission | string): Promise<unknown>
}

export type X402Step = 'asking' | 'planning' | 'swapping' | 'signing' | 'paying'

export type X402Options = Omit<X402Request, 'url'> & {
  /** Pays on EVM chains by typed data alone. */
  payer: Pick<EvmSigner, 'address' | 'signTypedData'>
  /** The caller's nodes by chain: payments are made on these chains only, and tokens are verified there. */
  rpcUrls: Readonly<Record<number, string>>
  /** Tokens that the payer may swap when it lacks the token, in the order of preference. */
  sources?: readonly X402Source[] | undefined
  /** Their signers, by wallet address. */
  signers?: Readonly<Record<string, Signer>> | undefined
  swapper?: X402Swapper | undefined
  /**
   * Sees everything that would be paid; nothing is signed unless it returns true. It is called again if the seller
   * names another payee after the swap.
   */
  confirm(plan: X402Plan, demand: X402Demand): boolean | Promise<boolean>
  /** Without a store, nothing remembers a payment after a crash. */
  store?: X402Store | undefined
  /** Pays again for what the seller took a payment for and did not answer. */
  again?: boolean | undefined
  /** Allows http to other machines. */
  isInsecure?: boolean | undefined
  fetch?: typeof fetch | undefined
  timeoutMs?: number | undefined
  maxBytes?: number | undefined
  signal?: AbortSignal | undefined
  onStep?: ((step: X402Step) => void) | undefined
}

export type X402Answer = Answer & {
  /** Absent if the seller asked for none. */
  payment?: X402Payment | undefined
  /** The transaction that took it, by the seller's word. */
  transaction?: string | undefined
  swap?: EndedSwap | undefined
}

const TIMEOUT_MS = 60_000
const MAX_BYTES = 10_000_000
const MAX_DEMAND_BYTES = 100_000
const MOVE_PERCENT = 1n
// The seller's node may not know yet what a swap has just delivered: it refuses the same payment, and then takes it.
const SEEN_MS = 15_000
const AGAIN_MS = 1_000

type Deps = {
  client: Client
  request: X402Request
  options: X402Options
  payer: Address
  key: string
  store: X402Store
  io: Ask
}

/**
 * Requests a URL, and pays for it if the seller asks for a payment by x402. A token that the payer lacks is swapped to
 * it first, exactly that amount. Nothing is signed twice: a payment that was not answered is sent again as it is.
 *
 *     const { body } = await payX402(client, url, { payer, rpcUrls, sources, signers, confirm })
 */
export async function payX402(client: Client, url: string, options: X402Options): Promise<X402Answer> {
  const { method, headers, body, store = new Map(), timeoutMs = TIMEOUT_MS, signal } = options
  const request = { url, method, headers, body }
  assertPayable(request, options.isInsecure ?? false)
  if (!options.payer.signTypedData) throw new SwapRefusedError('SIGNER', 'The payer has to sign typed data.')
  const payer = getAddress(options.payer.address)
  // Browsers reject `fetch` unless it is called as a function of the window.
  const call: typeof fetch = options.fetch ?? ((...args) => globalThis.fetch(...args))
  const io = { fetch: call, timeoutMs, maxBytes: options.maxBytes ?? MAX_BYTES, signal }
  const deps = { client, request, options, payer, key: keyOf(request, payer), store, io }
  return alone(deps, async () => (await finishLeft(deps)) ?? payNew(deps))
}

const busy = new WeakMap<X402Store, Set<string>>()

/** Of several calls with one store, one at a time works on a request. */
async function alone<T>({ store, key }: Deps, act: () => Promise<T>): Promise<T> {
  const keys = busy.get(store) ?? new Set()
  if (keys.has(key)) throw new X402Error('X402_IN_FLIGHT', 'Another call pays for the same.')
  busy.set(store, keys.add(key))
  return act().finally(() => keys.delete(key))
}

/** Ends what an earlier call began. Returns the answer to its payment, if that can still be used. */
async function finishLeft(deps: Deps): Promise<X402Answer | undefined> {
  const { store, key, options } = deps
  const left = store.get(key)
  if (left?.payment) return finishPayment(deps, left.payment)
  if (left?.swap === undefined) return undefined
  options.onStep?.('swapping')
  await (options.swapper ?? swapperOf(deps)).resume(left.swap).catch((error: unknown) => {
    if (!isGone(error)) throw error
  })
  store.delete(key)
  return undefined
}

async function finishPayment(deps: Deps, left: X402Payment): Promise<X402Answer | undefined> {
  const { options, store, key } = deps
  const { isTaken, nowSeconds } = await readUse(nodeOf(deps, left.chainId), left)
  const isOver = !isTaken && nowSeconds >= Number(left.authorization.validBefore)
  if (isOver || (isTaken && options.again)) {
    store.delete(key)
    return undefined
  }
  try {
    return await send(deps, await sign(deps, left))
  } catch (error) {
    if (!isTaken || !(error instanceof X402Error)) throw error
    const standing = standingOf(left, 'taken')
    const message = 'The seller took the payment and does not answer it.'
    throw new X402Error('X402_TAKEN', message, { standing, cause: error })
  }
}

async function payNew(deps: Deps): Promise<X402Answer> {
  const { client, options, payer, store, key } = deps
  const { sources = [], rpcUrls, signal, onStep, confirm } = options
  const first = await askPrice(deps)
  if (!('demand' in first)) return first
  onStep?.('planning')
  const plan = await planPayment({ client, payer, sources, rpcUrls, signal }, first.demand)
  if ((await confirm(plan, first.demand)) !== true)
    throw new X402Error('X402_DECLINED', 'The payment was not confirmed.')
  signal?.throwIfAborted()
  if (!plan.swap) return payOffer(deps, first.demand, plan)

  onStep?.('swapping')
  const keep = (swap: Submission | string) => store.set(key, { swap })
  const swap = await (options.swapper ?? swapperOf(deps)).start(plan, keep).catch((error: unknown) => {
    // The service refused it, so there is no swap to continue.
    if (error instanceof GeoswapError && error.status >= 400 && error.status < 500) store.delete(key)
    throw error
  })
  store.delete(key)
  const { swapId } = swap
  if (swap.status !== 'settled')
    throw new X402Error('X402_SWAP_ENDED', `The swap before the payment is ${swap.status}.`, { swapId })
  try {
    const next = await askPrice(deps)
    if (!('demand' in next)) return { ...next, swap }
    const offer = findSame(next.demand, plan.offer)
    if (!offer)
      throw new X402Error('X402_CHANGED', 'After the swap the seller asks for more, or for something else.')
    // Some sellers have an address for each request.
    const isAgreed = offer.payTo === plan.offer.payTo || (await confirm({ ...plan, offer }, next.demand))
    if (isAgreed !== true)
      throw new X402Error('X402_DECLINED', 'Payment to the other address was not confirmed.')
    return { ...(await payOffer(deps, next.demand, { ...plan, offer }, SEEN_MS)), swap }
  } catch (error) {
    if (!(error instanceof X402Error)) throw error
    const { code, message, standing, reasons } = error
    throw new X402Error(code, message, { standing, reasons, swapId, cause: error })
  }
}

/** The answer, or what the seller asks for it. */
async function askPrice({ io, request, options }: Deps): Promise<Answer | { demand: X402Demand }> {
  options.onStep?.('asking')
  const answer = await ask(io, request, undefined)
  if (answer.status !== 402) return orFailed(answer, { payment: 'none' })
  const text = new TextDecoder().decode(answer.body.subarray(0, MAX_DEMAND_BYTES))
  const demand = readDemand(answer.headers.get('payment-required'), text)
  if (demand) return { demand }
  throw new X402Error('X402_UNREADABLE', 'The seller asks for a payment, and not by x402.')
}

async function payOffer(
  deps: Deps,
  demand: X402Demand,
  plan: Pick<X402Plan, 'offer'>,
  patientMs = 0,
): Promise<X402Answer> {
  const { options, payer, store, key } = deps
  const rpcUrl = nodeOf(deps, plan.offer.chainId)
  // The second demand may name another domain for the same token.
  const token = await readToken(rpcUrl, plan.offer, payer)
  if (typeof token === 'string') throw new X402Error('X402_CHANGED', `The offer changed: ${token}.`)
  const nowSeconds = await readNow(rpcUrl)
  // Nobody waits for the answer any more, and a repeat would pay once again.
  options.signal?.throwIfAborted()
  const payment = createPayment({ demand, offer: plan.offer, token, payer, nowSeconds })
  store.set(key, { payment })
  const signed = await sign(deps, payment)
  for (const until = Date.now() + patientMs; ; await sleep(AGAIN_MS, options.signal))
    try {
      return await send(deps, signed)
    } catch (error) {
      const isOpen = error instanceof X402Error && error.standing.payment === 'open'
      if (!isOpen || error.code !== 'X402_REFUSED' || Date.now() > until) throw error
    }
}

/** Signs what is stored, and stores the signature before anybody sees it. */
async function sign({ options, store, key }: Deps, payment: X402Payment): Promise<X402Payment> {
  if (payment.signature !== undefined) return payment
  options.onStep?.('signing')
  const signature = await options.payer.signTypedData?.(toTypedData(payment)).catch((error: unknown) => {
    store.delete(key)
    throw error
  })
  const signed = { ...payment, signature }
  store.set(key, { payment: signed })
  return signed
}

async function send(deps: Deps, payment: X402Payment): Promise<X402Answer> {
  const { io, request, options, store, key } = deps
  options.signal?.throwIfAborted()
  options.onStep?.('paying')
  const standing = standingOf(payment, 'open')
  try {
    const answer = await ask(io, request, { header: toHeader(payment), standing })
    if (answer.status === 402) throw refused(answer)
    orFailed(answer, standing)
    store.delete(key)
    const { headers } = answer
    const receipt = readReceipt(headers.get('payment-response') ?? headers.get('x-payment-response'))
    return { ...answer, payment, transaction: receipt.transaction }
  } catch (error) {
    if (!(error instanceof X402Error)) throw error
    const { code, message } = error
    throw new X402Error(code, message, { standing: await standingNow(deps, payment), cause: error })
  }
}

/** A node that does not answer leaves it open. */
async function standingNow(deps: Deps, payment: X402Payment) {
  const use = await readUse(nodeOf(deps, payment.chainId), payment).catch(() => undefined)
  return standingOf(payment, use?.isTaken ? 'taken' : 'open')
}

function refused({ headers, body }: Answer): X402Error {
  const text = new TextDecoder().decode(body.subarray(0, MAX_DEMAND_BYTES))
  const said = readDemand(headers.get('payment-required'), text)?.error
  const settled = readReceipt(headers.get('payment-response') ?? headers.get('x-payment-response')).error
  const why = said || settled
  return new X402Error(
    'X402_REFUSED',
    `The seller does not accept the payment${why ? `: ${quoted(why)}` : ''}.`,
  )
}

function orFailed(answer: Answer, standing: X402Error['standing']): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer
  throw new X402Error('X402_FAILED', `The seller answered with status ${answer.status}.`, { standing })
}

function nodeOf({ options }: Deps, chainId: number): string {
  const url = options.rpcUrls[chainId]
  if (url !== undefined) return url
  throw new X402Error('X402_UNPAYABLE', `No node of chain ${chainId} is set.`)
}

/** Swaps by the client. The input may be one per cent above the quote that was confirmed. */
function swapperOf({ client, options }: Deps): X402Swapper {
  const { signers = {}, signal } = options
  return {
    async start(plan, keep) {
      if (!plan.swap) throw new TypeError('The plan has no swap')
      const { source, quote } = plan.swap
      const signer = signers[source.wallet]
      if (!signer) throw new SwapRefusedError('SIGNER', `There is no signer of ${source.wallet}.`)
      const input = BigInt(quote.input)
      return client.swap(swapFor(plan, source), signer, {
        maxInput: input + (input * MOVE_PERCENT) / 100n,
        signal,
        onProgress(progress) {
          if (progress.step === 'submitting') keep(progress.submission)
          if (progress.step === 'submitted') keep(progress.swapId)
        },
      })
    },
    resume: (left) => client.resume(left, { signal }),
  }
}
