import type { StatusReply } from '@geoswap/wire'
import type { PrivateKeyAccount } from 'viem/accounts'
import { prepareSolana } from '../solana-orders.ts'
import { outcomeOf, prepare, type Side } from '../world.ts'
import { now } from './clock.ts'
import type { Shaped } from './shaped.ts'

const USDC = 1_000_000n
const SPARE = 2n

export type Route = { name: string; from: string; to: string; usd: bigint }

/** The times of a swap as its caller observed them, by the machine's monotonic clock. */
export type RouteSwap = {
  etaSeconds: number
  submittedAt: number
  tookMs: number
  status: StatusReply
}

type Prepared = { etaSeconds: number; submit(): ReturnType<Shaped['world']['api']['submit']> }

/**
 * A wallet on the origin that swaps USDC for USDC on the destination, to a recipient that already holds some.
 */
export type Swapper = { prepare(): Promise<Prepared> }

/** Funds the wallet for this many swaps, and one more that delegates it. */
export async function createSwapper(shaped: Shaped, route: Route, swaps: number): Promise<Swapper> {
  const { world, solana } = shaped
  const { api } = world
  const amount = route.usd * USDC
  const funds = amount * (BigInt(swaps) + SPARE)
  const to: Side = route.to === 'solana' ? solana : world.chainNamed(route.to)
  const order = { sell: 'USDC', to, buy: 'USDC', amount }
  if (route.from === 'solana') {
    const wallet = await solana.wallet({ USDC: funds })
    const recipient = (await world.walletWith(world.chainNamed(route.to), 'USDC', 1n)).address
    return {
      async prepare() {
        const { quote, submission } = await prepareSolana({ api, solana }, wallet, { ...order, recipient })
        return { etaSeconds: quote.etaSeconds, submit: () => api.submitSolana(submission) }
      },
    }
  }
  const from = world.chainNamed(route.from)
  const wallet = await world.walletWith(from, 'USDC', funds)
  const recipient = await recipientOn(shaped, route.to, wallet)
  return {
    async prepare() {
      const { quote, submission } = await prepare(world, wallet, { ...order, from, recipient })
      return { etaSeconds: quote.etaSeconds, submit: () => api.submit(submission) }
    },
  }
}

async function recipientOn({ solana }: Shaped, to: string, wallet: PrivateKeyAccount): Promise<string> {
  return to === 'solana' ? (await solana.wallet({ USDC: 1n })).address : wallet.address
}

/** One swap with a new quote: from the answer to submit until a held read reports its end. */
export async function swapOnce({ world }: Shaped, swapper: Swapper): Promise<RouteSwap> {
  const { etaSeconds, submit } = await swapper.prepare()
  const { status, body } = await submit()
  const submittedAt = now()
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  const outcome = await outcomeOf(world, body.swapId)
  return { etaSeconds, submittedAt, tookMs: now() - submittedAt, status: outcome }
}
