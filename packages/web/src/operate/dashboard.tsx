import type { OperatorOverview } from '@geoswap/wire'
import { formatUnits } from '../amounts.ts'
import { Problem } from '../parts/notice.tsx'
import { explainOperator, type OperatorClient } from './client.ts'
import { BooksCard, chainName, InventoryCard, SendersCard } from './money-cards.tsx'
import { SeriesCard } from './series-card.tsx'
import { AlarmsCard, ChainsCard, PricesCard, SwapsCard } from './state-cards.tsx'
import { StopsCard } from './stops-card.tsx'
import { Table } from './table.tsx'
import { formatCents, formatMicros } from './words.ts'

type Props = { overview: OperatorOverview; client: OperatorClient; error: unknown; refresh(): void }

/** First the alarms, then the switches, then everything else. */
export function Dashboard({ overview, client, error, refresh }: Props) {
  return (
    <>
      <div class="card-head page-head">
        <h1>Operate {overview.network}</h1>
        <p class="fine">As of {new Date(overview.at).toLocaleTimeString()}</p>
      </div>
      {error ? <Problem explained={explainOperator(error)} /> : null}
      <div class="board">
        <AlarmsCard overview={overview} />
        <StopsCard overview={overview} client={client} onChange={refresh} />
        <SeriesCard client={client} />
        <EarningsCard overview={overview} />
        <div class="board-column">
          <SwapsCard overview={overview} />
          <InventoryCard overview={overview} />
          <SendersCard overview={overview} />
        </div>
        <div class="board-column">
          <ChainsCard overview={overview} />
          <PricesCard overview={overview} />
          <BooksCard overview={overview} />
        </div>
      </div>
    </>
  )
}

/** Earnings of the swaps of today and yesterday, and costs of their transactions. */
function EarningsCard({ overview }: { overview: OperatorOverview }) {
  const { routes, gas } = overview.earnings
  const symbolOf = (chainId: number, token: string) =>
    overview.inventory.find((each) => each.chainId === chainId && each.token === token)?.symbol ?? token
  const side = (chainId: number, token: string) =>
    `${symbolOf(chainId, token)} on ${chainName(overview, chainId)}`
  return (
    <section class="card wide-card" aria-labelledby="earnings">
      <h2 id="earnings">Earned and spent</h2>
      <p class="fine">Swaps that ended today and yesterday (UTC), counted every five minutes.</p>
      <Table
        label="Earned by route"
        heads={['Day', 'From', 'To', 'Settled', 'Refunded', 'Volume', 'Earned', 'Network', 'Profit']}
        rows={routes.map((route) => ({
          key: [
            route.day,
            route.originChain,
            route.inputToken,
            route.destinationChain,
            route.outputToken,
          ].join(),
          cells: [
            route.day,
            side(route.originChain, route.inputToken),
            side(route.destinationChain, route.outputToken),
            route.settled,
            route.refunded,
            formatCents(BigInt(route.volumeCents)),
            ...[route.earned, route.network, route.profit].map((usd) => formatMicros(BigInt(usd))),
          ],
        }))}
        none="No swap ended."
      />
      <Table
        label="Gas by chain"
        heads={['Day', 'Chain', 'Gas', 'Of which rent', 'USD']}
        rows={gas.map((each) => ({
          key: `${each.day} ${each.chainId}`,
          cells: [
            each.day,
            chainName(overview, each.chainId),
            formatUnits(each.amount, each),
            formatUnits(each.rent, each),
            formatMicros(BigInt(each.usd)),
          ],
        }))}
        none="No gas was spent."
      />
    </section>
  )
}
