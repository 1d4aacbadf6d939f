import { type Network, startNetwork } from '@geoswap/devnet'
import { privateKeyToAccount } from 'viem/accounts'
import { createWorld, type LocalNetwork, toRequest } from '../world.ts'
import { now } from './clock.ts'
import type { Figure } from './figures.ts'
import type { Bench } from './network.ts'
import { createApiKey } from './service.ts'
import { withShares } from './shares.ts'
import { perSecond } from './statistics.ts'
import { fire } from './throughput.ts'
import { createTraders, inGroups, orderOf, prepareSwaps, submitAndFollow, type Trading } from './traders.ts'

const SIZES = [1, 2, 4]
const SECONDS = 5
// Each process compiles its hot code first.
const WARM_UP_SECONDS = 3
const WALLETS = 25
const SWAPS = 150

/** The gain from more processes on this machine: each size on its own network, behind its own balancer. */
export async function measureScale({ say }: Bench): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of SIZES) {
    say(`a network with ${size} of the API and ${size} of the worker`)
    const { PATH = '', HOME = '' } = process.env
    const network = await startNetwork({ api: size, workers: size, env: { PATH, HOME }, say: () => {} })
    try {
      figures.push(...(await measureSize({ network, size, say })))
    } finally {
      await network.stop()
    }
  }
  return figures
}

type Sized = { network: Network; size: number; say: Bench['say'] }

async function measureSize({ network, size, say }: Sized): Promise<Figure[]> {
  const apiKey = await createApiKey(network, 'scale')
  const world = createWorld({ ...network.local, apiKey } as LocalNetwork)
  const trading: Trading = { world, say }
  const { apiUrl } = network.local
  const wallet = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const body = JSON.stringify(toRequest(wallet, orderOf(trading)))
  const target = { url: `${apiUrl}/swap/quote`, apiKey, body }
  await fire(target, { seconds: WARM_UP_SECONDS * size })
  const quoting = await withShares(network.pids, async () => {
    const { requests, duration } = await fire(target, { seconds: SECONDS })
    return requests.total / duration
  })
  const prepared = await prepareSwaps(trading, await createTraders(trading, WALLETS), SWAPS)
  const swapping = await withShares(network.pids, async () => {
    const start = now()
    const ended = await inGroups(prepared, SWAPS, (one) => submitAndFollow(trading, one))
    const lost = ended.filter(({ status }) => status.status !== 'settled')
    if (lost.length > 0) throw new Error(`${lost.length} swaps did not settle`)
    return SWAPS / ((now() - start) / 1_000)
  })
  return [
    { name: `Quotes, ${size} API`, measured: perSecond(quoting.result), baseline: quoting.shares },
    {
      name: `Swaps settled, ${size} API and ${size} workers`,
      measured: `${swapping.result.toFixed(1)}/s`,
      baseline: swapping.shares,
    },
  ]
}
