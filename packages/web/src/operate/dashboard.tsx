import type { OperatorOverview } from '@geoswap/wire'
import { Problem } from '../parts/notice.tsx'
import { explainOperator, type OperatorClient } from './client.ts'
import { EarningsCard } from './earnings-card.tsx'
import { BooksCard, InventoryCard, SendersCard } from './money-cards.tsx'
import { SeriesCard } from './series-card.tsx'
import { AlarmsCard, ChainsCard, PricesCard, SwapsCard } from './state-cards.tsx'
import { StopsCard } from './stops-card.tsx'

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
