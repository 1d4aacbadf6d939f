import { createClient, fromViemAccount } from '@geoswap/sdk'
import { startSeller } from '@geoswap/sdk/test/x402-seller'
import { payX402 } from '@geoswap/sdk/x402'
import type { PrivateKeyAccount } from 'viem/accounts'
import { quoteOnceSettled, toRequest, type World, type WorldChain } from '../world.ts'
import { offerIn, signPayment, usdcUrl } from '../x402.ts'
import { delay, now } from './clock.ts'
import { below, type Figure } from './figures.ts'
import { startBench } from './network.ts'
import { onShape, type Shaped } from './shaped.ts'
import { median, spread } from './statistics.ts'

const USDC = 1_000_000n
const AMOUNT = 50n * USDC
const SPARE = 2n
// A lagging backend does not know the balance of a new wallet yet.
const LAG_MS = 10_000
const LEFT_MS = 2_000
// Blocks and payments are not in step.
const PAUSE_MS = 700

type Options = { say(line: string): void; seed: number }
type Route = { wallet: PrivateKeyAccount; from: WorldChain; to: WorldChain }

/** Swaps by one payment, from the first request to the answer that says settled; and payments after a swap. */
export async function measurePayments({ say, seed }: Options, swaps: number): Promise<Figure[]> {
  const local = await measureLocal({ say, seed }, swaps)
  const shaped = await onShape({ say }, (shape) => measureShaped(shape, swaps))
  return [...local, ...shaped]
}

async function measureLocal(options: Options, swaps: number): Promise<Figure[]> {
  const bench = await startBench(options)
  try {
    // The account of payers on a local network.
    await bench.createKey('local')
    const { world } = bench
    const route = { wallet: await fund(world, world.alpha, swaps), from: world.alpha, to: world.beta }
    const order = { from: route.from, sell: 'USDC', to: route.to, buy: 'USDC', amount: AMOUNT }
    await quoteOnceSettled(world.api, toRequest(route.wallet, order))
    return [toFigure('alpha to beta', await repeat(swaps, () => payOnce(world, route)), 2_500)]
  } finally {
    await bench.stop()
  }
}

async function measureShaped(shaped: Shaped, swaps: number): Promise<Figure[]> {
  const { world, controls } = shaped
  const chains = world.chains.map(({ name }) => name)
  for (const chain of chains) await controls.setBackendLag(chain, 0)
  const [from, to] = [world.chainNamed('base'), world.chainNamed('arbitrum')]
  const route = { wallet: await fund(world, from, swaps), from, to }
  // It holds nothing on Arbitrum, where the other one was paid.
  const buyer = await fund(world, from, swaps)
  await payOnce(world, route)
  await delay(LAG_MS)
  for (const chain of chains) await controls.setBackendLag(chain, null)
  const sold = await repeat(swaps, () => payOnce(world, route))
  const bought = await measureBuying(shaped, { ...route, wallet: buyer }, swaps)
  return [
    toFigure('Base to Arbitrum, mainnet shape', sold, 4_000),
    toFigure('payX402 from Base to a seller on Arbitrum', bought, 5_000),
  ]
}

async function measureBuying({ world }: Shaped, { wallet, from, to }: Route, swaps: number) {
  const { local } = world
  const rpcUrls = Object.fromEntries(local.chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]))
  const seller = await startSeller(to, rpcUrls[to.chainId] ?? '', USDC)
  const contracts = { [from.chainId]: from.contracts }
  const client = createClient({ baseUrl: local.apiUrl, apiKey: local.apiKey, rpcUrls, contracts })
  const payer = fromViemAccount(wallet)
  const sources = [{ chainId: from.chainId, token: from.token('USDC'), wallet: wallet.address }]
  const options = { payer, rpcUrls, sources, signers: { [wallet.address]: payer } }
  try {
    return await repeat(swaps, async () => {
      // Until every backend knows that the last purchase left nothing there.
      await delay(LEFT_MS)
      const startedAt = now()
      const answer = await payX402(client, seller.url, { ...options, confirm: () => true })
      if (answer.swap?.status !== 'settled')
        throw new Error(`Bought after a swap that ended ${answer.swap?.status}`)
      return now() - startedAt
    })
  } finally {
    await seller.stop()
  }
}

const fund = (world: World, chain: WorldChain, swaps: number) =>
  world.walletWith(chain, 'USDC', AMOUNT * (BigInt(swaps) + SPARE))

/** One after the other. */
async function repeat(times: number, once: () => Promise<number>): Promise<number[]> {
  const took: number[] = []
  for (let count = 0; count < times; count += 1) {
    await delay((count * PAUSE_MS * 0.618) % PAUSE_MS)
    took.push(await once())
  }
  return took
}

async function payOnce({ local }: World, route: Route): Promise<number> {
  const url = usdcUrl(local.apiUrl, { ...route, amount: AMOUNT })
  const startedAt = now()
  const asked = await fetch(url)
  const offer = offerIn(asked.headers)
  if (!offer) throw new Error(`Nothing is offered: ${asked.status} ${await asked.text()}`)
  const { header } = await signPayment(route.wallet, offer)
  for (;;) {
    const answer = await fetch(url, { headers: { 'payment-signature': header } })
    const text = await answer.text()
    if (answer.status === 200) return now() - startedAt
    if (answer.status !== 202) throw new Error(`A payment was answered ${answer.status}: ${text}`)
  }
}

const toFigure = (route: string, took: readonly number[], limit: number): Figure =>
  below(`${route}: from the first request to settled, p50 of ${took.length}`, {
    ...{ value: median(took), limit },
    baseline: `p50 / p95 / max ${spread(took)}`,
  })
