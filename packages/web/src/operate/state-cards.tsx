import type { OperatorOverview, OperatorPrice } from '@geoswap/wire'
import { shorten } from '../amounts.ts'
import { Notice } from '../parts/notice.tsx'
import { Badge, Table } from './table.tsx'
import { formatCents, formatSeconds, percentOf } from './words.ts'

type Props = { overview: OperatorOverview }

/** The alarms that need an operator. */
export function AlarmsCard({ overview: { alarms } }: Props) {
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

export function ChainsCard({ overview }: Props) {
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

export function PricesCard({ overview: { prices } }: Props) {
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

export function SwapsCard({ overview: { swaps, lanesHeld } }: Props) {
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
