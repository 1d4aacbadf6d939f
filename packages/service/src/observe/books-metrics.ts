import type { Registry } from 'prom-client'
import type { Books } from '../model/books.ts'
import { addReading } from './database-gauges.ts'

type Sources = { books: { read(): Promise<Books> }; chains: readonly { chainId: number; name: string }[] }

const E6 = 1_000_000

/** Earnings and costs of the swaps of today and yesterday, by the chains of their route. */
export function addBooksGauge(registry: Registry, { books, chains }: Sources): void {
  const nameOf = (id: number) => chains.find(({ chainId }) => chainId === id)?.name ?? String(id)
  const usd = {
    name: 'geoswap_last_day_usd',
    help: 'volume, earned, network and profit of swaps that ended today or yesterday (UTC), read every five minutes.',
    labelNames: ['from', 'to', 'kind'],
  }
  addReading(
    registry,
    { usd },
    {
      read: () => books.read(),
      show(gauges, { routes }) {
        for (const { originChain, destinationChain, volumeCents, ...route } of routes) {
          const [from, to] = [nameOf(originChain), nameOf(destinationChain)]
          gauges.usd.inc({ from, to, kind: 'volume' }, Number(volumeCents) / 100)
          gauges.usd.inc({ from, to, kind: 'earned' }, Number(route.earnedE6) / E6)
          gauges.usd.inc({ from, to, kind: 'network' }, Number(route.networkE6) / E6)
          gauges.usd.inc({ from, to, kind: 'profit' }, Number(route.profitE6) / E6)
        }
      },
    },
  )
}
