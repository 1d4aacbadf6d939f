import { join } from 'node:path'
import type { Client } from '@geoswap/sdk'
import {
  byValue,
  payX402,
  usdValueOf,
  type X402Answer,
  type X402Demand,
  type X402Note,
  type X402Payer,
  type X402Plan,
  type X402Request,
  type X402Source,
  type X402Store,
  type X402Swapper,
  x402KeyOf,
} from '@geoswap/sdk/x402'
import { formatAmount } from './amounts.ts'
import { type Catalog, getSide, type Side } from './catalog.ts'
import { type Context, interrupted, nodeOf, readCatalog } from './context.ts'
import { UserError } from './errors.ts'
import { families } from './families/registry.ts'
import { toSigner } from './keys.ts'
import { assertReadable, resolveOrder } from './order.ts'
import { plainName, quoteSeller } from './plain.ts'
import { claimPayment } from './store/payments.ts'
import { LOCAL_WALLET } from './store/wallet-files.ts'
import { claimOrder } from './swap/claim.ts'
import { followAttempt } from './swap/follow.ts'
import { performSwap } from './swap/perform.ts'
import { type ChosenWallet, unlockWallet } from './wallets.ts'

type PayOrder = {
  request: X402Request
  /** Pay the seller: the cheapest offer decides which of them. */
  payers: readonly ChosenWallet[]
  /** The token that a swap is paid with, as CHAIN:TOKEN; by default the best of what the wallets hold. */
  from?: string | undefined
  /** The wallet that pays a swap from there; undefined if there is none. */
  chooseWallet(side: Side): Promise<ChosenWallet | undefined>
  /** Called with all that would be paid, before anything is signed. */
  approve(plan: X402Plan, shown: Shown, id: string): boolean | Promise<boolean>
  again: boolean
  isInsecure: boolean
  /** Only shows the payment: `approve` says no, and nothing of an earlier run is continued. */
  isDry?: boolean | undefined
  /** How long the seller may take for an answer. */
  timeoutMs?: number | undefined
  maxBytes?: number | undefined
  fetch?: typeof fetch | undefined
  /** Aborted once nobody waits for the answer: a swap goes on, and no payment is begun or sent. */
  left?: AbortSignal | undefined
}

/** A payment in words. */
export type Shown = { price: string; payTo: string; token: string; pays: string; seller: string | undefined }

/** Pays for a request, with each step written before the next one. */
export async function payRequest(context: Context, client: Client, order: PayOrder): Promise<X402Answer> {
  const { settings, interrupts, terminal, seen } = context
  const { request, payers, again, isInsecure, timeoutMs, maxBytes, fetch, left } = order
  const catalog = await readCatalog(client, interrupts.signal)
  const wallets = new Map<string, ChosenWallet>()
  const sources = await findSources(context, catalog, order, wallets)
  const keyOf = (address: string) => x402KeyOf(request, address)
  const claimed = order.isDry
    ? { idOf: (key: string) => key, store: new Map<string, X402Note>(), release: () => {} }
    : claimAll(
        join(context.home, 'payments'),
        request.url,
        payers.map(({ address }) => keyOf(address)),
      )
  try {
    return await payX402(client, request.url, {
      ...{
        ...request,
        rpcUrls: settings.rpcUrls,
        sources,
        again,
        isInsecure,
        timeoutMs,
        maxBytes,
        fetch,
        store: claimed.store,
      },
      payer: payers.map((payer) => toPayer(context, payer)),
      swapper: createSwapper(context, client, wallets),
      confirm: (plan, demand) =>
        order.approve(plan, show(plan, demand, catalog), claimed.idOf(keyOf(plan.payer))),
      signal: interrupts.signal,
      onStep(step) {
        if (left?.aborted) throw interrupted()
        terminal.progress(STEPS[step])
        if (step !== 'paying') return
        seen.isPaying = true
        interrupts.hold()
      },
    })
  } finally {
    claimed.release()
    interrupts.release()
  }
}

/** The payments of several payers; none if one of them is worked on. */
function claimAll(folder: string, url: string, keys: readonly string[]) {
  const claims = new Map<string, ReturnType<typeof claimPayment>>()
  const release = () => {
    for (const claim of claims.values()) claim.release()
  }
  try {
    for (const key of keys) claims.set(key, claimPayment(folder, { key, url }))
  } catch (error) {
    release()
    throw error
  }
  const get = (key: string) => {
    const claim = claims.get(key)
    if (claim) return claim
    throw new TypeError('This payer is none of those that were claimed')
  }
  const store: X402Store = {
    get: (key) => get(key).store.get(key),
    set: (key, note) => get(key).store.set(key, note),
    delete: (key) => get(key).store.delete(key),
  }
  return { idOf: (key: string) => get(key).id, store, release }
}

/** Unlocks the wallet only to sign. */
function toPayer(context: Context, wallet: ChosenWallet): X402Payer {
  const { name, address } = wallet
  const unlock = async () => toSigner(await unlockWallet(context, wallet))
  const cannot = () => new UserError('BAD_KEY', `${name} is a wallet of another family of chains.`)
  const signs: X402Payer = {
    address,
    async signTypedData(typedData) {
      const signer = await unlock()
      if ('signTypedData' in signer && signer.signTypedData) return signer.signTypedData(typedData)
      throw cannot()
    },
    async signTransaction(transaction: string) {
      const signer = await unlock()
      if ('signTransaction' in signer) return signer.signTransaction(transaction)
      throw cannot()
    },
  }
  return signs
}

const STEPS = {
  asking: 'asking the seller',
  planning: 'looking for the cheapest way to pay',
  swapping: 'swapping what is missing',
  signing: 'signing the payment',
  paying: 'paying',
}

/** The tokens that the wallets hold, the most valuable first; or the named token, whatever there is of it. */
async function findSources(
  context: Context,
  catalog: Catalog,
  { from, chooseWallet }: PayOrder,
  wallets: Map<string, ChosenWallet>,
): Promise<X402Source[]> {
  const sides =
    from === undefined
      ? catalog.tokens.flatMap((token) => {
          const chain = catalog.chains.find(({ chainId }) => chainId === token.chainId)
          const isReadable = chain && context.settings.rpcUrls[token.chainId] !== undefined
          return isReadable && token.input ? [{ chain, token }] : []
        })
      : [getSide(catalog, from)]
  const found = await Promise.all(
    sides.map(async (side) => {
      const wallet = await chooseWallet(side)
      if (!wallet) return []
      wallets.set(wallet.address, wallet)
      const { chain, token } = side
      const source = { chainId: chain.chainId, token: token.address, wallet: wallet.address }
      // The faucet fills it when it pays.
      if (from !== undefined && wallet.name === LOCAL_WALLET) return [{ source, value: 0n }]
      const balance = await readBalance(context, side, { wallet, isNamed: from !== undefined })
      return balance === 0n
        ? []
        : [{ source: { ...source, balance }, value: usdValueOf(balance, token) ?? 0n }]
    }),
  )
  return found
    .flat()
    .toSorted((a, b) => byValue(b, a))
    .map(({ source }) => source)
}

/** A chain whose node does not answer is passed over, unless it was named. */
async function readBalance(
  context: Context,
  { chain, token }: Side,
  { wallet, isNamed }: { wallet: ChosenWallet; isNamed: boolean },
): Promise<bigint> {
  try {
    return await nodeOf(context, chain).balanceOf(wallet.address, token.address)
  } catch (error) {
    if (isNamed || !(error instanceof UserError)) throw error
    context.terminal.note(error.message)
    return 0n
  }
}

const MOVE_PERCENT = 1n

/** A swap of the journal: an attempt continues it after a crash. */
function createSwapper(
  context: Context,
  client: Client,
  wallets: ReadonlyMap<string, ChosenWallet>,
): X402Swapper {
  return {
    async start({ offer, payer, swap }, keep) {
      const wallet = wallets.get(swap?.source.wallet ?? '')
      if (!swap || !wallet) throw new TypeError('The plan has no swap of these wallets')
      const words = {
        from: `${swap.source.chainId}:${swap.source.token}`,
        to: `${offer.chainId}:${offer.asset}`,
        ...{ receive: offer.amount.toString(), raw: true, recipient: payer },
      }
      const ready = await resolveOrder(context, client, words, async () => wallet)
      assertReadable(context, ready)
      const input = BigInt(swap.quote.input)
      const limits = { ...ready.limits, maxInput: input + (input * MOVE_PERCENT) / 100n }
      const rpcUrl = context.settings.rpcUrls[swap.source.chainId]
      const wish = { order: ready.order, isNew: false, rpcUrl }
      const { attempt, isLeft } = await claimOrder(context, client, wish)
      keep(attempt.id)
      if (isLeft) return followAttempt(context, client, attempt)
      const options = { attempt, acceptsImpact: true, raw: false }
      return performSwap(context, client, { ...ready, limits }, options)
    },
    async resume(left) {
      const attempt = typeof left === 'string' ? context.journal.find(left) : undefined
      if (attempt?.stage !== 'submitting' && attempt?.stage !== 'submitted') return
      await followAttempt(context, client, attempt).catch((error: unknown) => {
        // There is no swap, and its signature is judged before another one is made.
        if (!(error instanceof UserError && error.code === 'NOT_SUBMITTED')) throw error
      })
    },
  }
}

function show({ offer, token, swap }: X402Plan, demand: X402Demand, { chains, tokens }: Catalog): Shown {
  const nameOf = (chainId: number) => chains.find((each) => each.chainId === chainId)?.name ?? `${chainId}`
  const { parseAddress } = families[offer.family]
  const asset = parseAddress(offer.asset)
  const isListed = tokens.some(
    (each) => each.chainId === offer.chainId && parseAddress(each.address) === asset,
  )
  const symbol = `${plainName(token.symbol)}${isListed ? '' : ' (not a token of the service)'}`
  const price = `${formatAmount(offer.amount, token.decimals)} ${symbol} on ${nameOf(offer.chainId)}`
  const paid =
    swap &&
    tokens.find(({ chainId, address }) => chainId === swap.source.chainId && address === swap.source.token)
  return {
    ...{ price, payTo: offer.payTo, token: offer.asset },
    pays: paid
      ? `${formatAmount(BigInt(swap.quote.input), paid.decimals)} ${paid.symbol} on ${nameOf(paid.chainId)}`
      : price,
    seller: demand.description === '' ? undefined : quoteSeller(demand.description),
  }
}
