import type { OperatorOverview, OperatorPrice } from '@geoswap/wire'
import { formatUnits, shorten } from '../amounts.ts'
import { Notice, Problem } from '../parts/notice.tsx'
import { explainOperator, type OperatorClient } from './client.ts'
import { BooksCard, chainName, InventoryCard, SendersCard } from './money-cards.tsx'
import { SeriesCard } from './series-card.tsx'
import { StopsCard } from './stops-card.tsx'
import { Badge, Table } from './table.tsx'
import { formatCents, formatMicros, formatSeconds, percentOf } from './words.ts'

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

type StateProps = { overview: OperatorOverview }

/** The alarms that need an operator. */
function AlarmsCard({ overview: { alarms } }: StateProps) {
  return (
    <section class="card wide-card" aria-labelledby="alarms">
      <h2 id="alarms">Alarms</h2>
      {alarms.length === 0 ? (
        <Notice tone="good">
          <p>There are no alarms.</p>
        </Notice>
      ) : (
        <ul class="alarms">
          {alarms.map(({ name, severity, summary }) => (
            <li key={`${name} ${summary}`} class={`notice ${severity === 'page' ? 'bad' : 'warn'}`}>
              <strong>{summary}</strong>
              <span class="fine">
                {name} · {severity}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function ChainsCard({ overview }: StateProps) {
  const rows = overview.chains.map(({ chainId, name, isLive, nodes, block, ...chain }) => {
    const [exposed, cap] = [BigInt(chain.exposedCents), BigInt(chain.exposureCapCents)]
    const [unclaimed, unclaimedCap] = [BigInt(chain.unclaimedCents), BigInt(chain.unclaimedCapCents)]
    return {
      key: name,
      cells: [
        `${name} (${chainId})`,
        isLive ? (
          <Badge key="live" tone="good">
            live
          </Badge>
        ) : (
          <Badge key="live" tone="bad">
            down
          </Badge>
        ),
        String(nodes),
        block ?? 'not known',
        `${formatCents(exposed)} of ${formatCents(cap)} (${percentOf(exposed, cap)} %)`,
        `${formatCents(unclaimed)} of ${formatCents(unclaimedCap)} (${percentOf(unclaimed, unclaimedCap)} %)`,
      ],
    }
  })
  return (
    <section class="card" aria-labelledby="chains">
      <h2 id="chains">Chains and exposure</h2>
      <Table
        label="Chains and exposure"
        heads={['Chain', 'Nodes agree', 'Nodes', 'Block', 'Exposure', 'Not claimed']}
        rows={rows}
        none="There are none."
      />
    </section>
  )
}

function PricesCard({ overview: { prices } }: StateProps) {
  const rows = prices.map((each) => ({
    key: each.asset,
    cells: [
      each.asset,
      each.price === undefined ? (
        <Badge key="price" tone="bad">
          no price
        </Badge>
      ) : (
        `$${each.price}`
      ),
      <Feeds key="feeds" feeds={each.feeds} />,
    ],
  }))
  return (
    <section class="card" aria-labelledby="prices">
      <h2 id="prices">Price sources</h2>
      <Table label="Price sources" heads={['Asset', 'Price', 'Sources']} rows={rows} none="There are none." />
    </section>
  )
}

function Feeds({ feeds }: Pick<OperatorPrice, 'feeds'>) {
  return (
    <span class="feeds">
      {feeds.map(({ feed, problem }, index) => (
        // Keyed by index: an asset may have two feeds with one name.
        <Badge key={index} tone={problem === undefined ? 'good' : 'warn'}>
          <span title={feed}>{feed.split(' ').map(shorten).join(' ')}</span>
          {problem !== undefined && `: ${problem}`}
        </Badge>
      ))}
    </span>
  )
}

function SwapsCard({ overview: { swaps, lanesHeld } }: StateProps) {
  const open = swaps.open.map(({ state, count, oldestSeconds }) => ({
    key: state,
    cells: [state, String(count), formatSeconds(oldestSeconds)],
  }))
  const ended = swaps.ended.map(({ status, reason, count }) => ({
    key: `${status} ${reason}`,
    cells: [status, reason || '–', String(count)],
  }))
  return (
    <section class="card" aria-labelledby="swaps">
      <div class="card-head">
        <h2 id="swaps">Swaps</h2>
        <Badge tone={lanesHeld > 0 ? 'good' : 'bad'}>
          {lanesHeld > 0 ? `${lanesHeld} lanes at work` : 'no worker'}
        </Badge>
      </div>
      <h3>Open</h3>
      <Table label="Open swaps" heads={['State', 'Swaps', 'Oldest']} rows={open} none="None is open." />
      <h3>Ended in the last hour</h3>
      <Table
        label="Ended swaps"
        heads={['Outcome', 'Reason', 'Swaps']}
        rows={ended}
        none="None ended in the last hour."
      />
    </section>
  )
}
