import { familyOfAddress } from '@geoswap/wire/caip'
import type { Client } from '../client.ts'
import { GeoswapError, type Submission, SwapRefusedError } from '../errors.ts'
import { sleep } from '../retry.ts'
import type { Signer } from '../signers.ts'
import { isGone } from '../submission.ts'
import type { EndedSwap } from '../wait.ts'
import type { X402Plan, X402Source } from './choose.ts'
import { quoted, X402Error } from './errors.ts'
import type { X402Payer, X402Payment } from './family.ts'
import { findSame, readDemand, readReceipt, type X402Demand } from './offers.ts'
import { planPayment, readToken, swapFor } from './plan.ts'
import { families, readUse, signPayment, standingOf, toHeader, x402TermsOf } from './registry.ts'
import { type Answer, type Ask, ask, assertPayable, keyOf, type X402Request } from './request.ts'

export {
  byValue,
  usdValueOf,
  type X402Plan,
  type X402Source,
  type X402Swap,
} from './choose.ts'
export { type X402Code, X402Error, type X402Standing } from './errors.ts'
export type { X402Offer, X402Payer, X402Payment, X402Token } from './family.ts'
export type { X402Demand } from './offers.ts'
export { x402TermsOf } from './registry.ts'
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
  /** Pays on EVM chains by typed data alone, on Solana by a transaction; or several, and the cheapest offer is paid. */
  payer: X402Payer | readonly X402Payer[]
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
  /** By address. */
  payers: ReadonlyMap<string, X402Payer>
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
  const payers = readPayers([options.payer].flat())
  // Browsers reject `fetch` unless it is called as a function of the window.
  const call: typeof fetch = options.fetch ?? ((...args) => globalThis.fetch(...args))
  const io = { fetch: call, timeoutMs, maxBytes: options.maxBytes ?? MAX_BYTES, signal }
  const deps = { client, request, options, payers, store, io }
  return alone(deps, async () => (await finishLeft(deps)) ?? payNew(deps))
}

function readPayers(given: readonly X402Payer[]): Map<string, X402Payer> {
  const payers = given.map((payer) => {
    const family = families[familyOfAddress(payer.address)]
    const address = family.parseAddress(payer.address)
    if (address !== undefined && family.canSign(payer)) return [address, payer] as const
    const message = `${payer.address} has to sign typed data, or transactions of Solana.`
    throw new SwapRefusedError('SIGNER', message)
  })
  return new Map(payers)
}

const busy = new WeakMap<X402Store, Set<string>>()

/** Of several calls with one store, one at a time works on a request. */
async function alone<T>({ store, request, payers }: Deps, act: () => Promise<T>): Promise<T> {
  const held = busy.get(store) ?? new Set()
  const keys = [...payers.keys()].map((payer) => keyOf(request, payer))
  if (keys.some((key) => held.has(key)))
    throw new X402Error('X402_IN_FLIGHT', 'Another call pays for the same.')
  busy.set(store, held)
  for (const key of keys) held.add(key)
  return act().finally(() => {
    for (const key of keys) held.delete(key)
  })
}

/** Ends what earlier calls began. Returns the answer to a payment of theirs, if one can still be used. */
async function finishLeft(deps: Deps): Promise<X402Answer | undefined> {
  for (const payer of deps.payers.keys()) {
    const answer = await finishLeftOf(deps, keyOf(deps.request, payer))
    if (answer) return answer
  }
  return undefined
}

async function finishLeftOf(deps: Deps, key: string): Promise<X402Answer | undefined> {
  const { store, options } = deps
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
  const { options, store } = deps
  const use = await readUse(nodeOf(deps, left.chainId), left)
  const isTaken = use === 'taken'
  if (use === 'over' || (isTaken && options.again)) {
    store.delete(keyOfPayment(deps, left))
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

const keyOfPayment = ({ request }: Deps, payment: X402Payment) => keyOf(request, x402TermsOf(payment).payer)

async function payNew(deps: Deps): Promise<X402Answer> {
  const { client, options, payers, store } = deps
  const { sources = [], rpcUrls, signal, onStep, confirm } = options
  const first = await askPrice(deps)
  if (!('demand' in first)) return first
  onStep?.('planning')
  const plan = await planPayment(
    { client, payers: [...payers.keys()], sources, rpcUrls, signal },
    first.demand,
  )
  if ((await confirm(plan, first.demand)) !== true)
    throw new X402Error('X402_DECLINED', 'The payment was not confirmed.')
  signal?.throwIfAborted()
  if (!plan.swap) return payOffer(deps, first.demand, plan)

  onStep?.('swapping')
  const key = keyOf(deps.request, plan.payer)
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
  { offer, payer, token: shown }: X402Plan,
  patientMs = 0,
): Promise<X402Answer> {
  const { options, request, store } = deps
  const rpcUrl = nodeOf(deps, offer.chainId)
  // The second demand may name another domain for the same token, or another fee payer.
  const token = await readToken(options.rpcUrls, offer, payer)
  if (typeof token === 'string') throw new X402Error('X402_CHANGED', `The offer changed: ${token}.`)
  const { version, resource, extensions } = demand
  const asked = { version, resource, extensions, offer, payer, token: { ...token, symbol: shown.symbol } }
  const payment = await families[offer.family].create(rpcUrl, asked)
  // Nobody waits for the answer any more, and a repeat would pay once again.
  options.signal?.throwIfAborted()
  store.set(keyOf(request, payer), { payment })
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
async function sign(deps: Deps, payment: X402Payment): Promise<X402Payment> {
  const { options, payers, store } = deps
  if (payment.signature !== undefined) return payment
  options.onStep?.('signing')
  const key = keyOfPayment(deps, payment)
  const payer = payers.get(x402TermsOf(payment).payer)
  if (!payer) throw new TypeError('The payer of this payment is not here')
  const signature = await signPayment(payment, payer).catch((error: unknown) => {
    store.delete(key)
    throw error
  })
  const signed = { ...payment, signature }
  store.set(key, { payment: signed })
  return signed
}

async function send(deps: Deps, payment: X402Payment): Promise<X402Answer> {
  const { io, request, options, store } = deps
  options.signal?.throwIfAborted()
  options.onStep?.('paying')
  const standing = standingOf(payment, 'open')
  try {
    const answer = await ask(io, request, { header: await toHeader(payment), standing })
    if (answer.status === 402) throw refused(answer)
    orFailed(answer, standing)
    store.delete(keyOfPayment(deps, payment))
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
async function standingNow(deps: Deps, payment: X402Payment): Promise<X402Error['standing']> {
  const use = await readUse(nodeOf(deps, payment.chainId), payment).catch(() => 'open' as const)
  return use === 'over' ? { payment: 'none' } : standingOf(payment, use)
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
