import type { OperatorHolding, OperatorOverview, OperatorSender } from '@geoswap/wire'
import { formatAmount, formatUnits } from '../amounts.ts'
import { Copyable } from '../parts/row.tsx'
import { Badge, Table } from './table.tsx'
import { formatCents, formatSeconds, percentOf } from './words.ts'

type Props = { overview: OperatorOverview }

export const chainName = ({ chains }: OperatorOverview, id: number): string =>
  chains.find(({ chainId }) => chainId === id)?.name ?? String(id)

/** The inventory, and how much of it is reserved. */
export function InventoryCard({ overview }: Props) {
  const isStopped = ({ chainId, asset }: OperatorHolding) =>
    overview.stops.some(
      ({ scope }) =>
        !scope.from && (scope.chainId ?? chainId) === chainId && (scope.asset ?? asset) === asset,
    )
  const rows = overview.inventory.map((holding) => {
    const { chainId, token, symbol, decimals, held, reserved, heldCents } = holding
    const used = percentOf(BigInt(reserved), BigInt(held))
    return {
      key: `${chainId} ${token}`,
      cells: [
        chainName(overview, chainId),
        <span key="token">
          {symbol} {isStopped(holding) && <Badge tone="warn">stopped</Badge>}
        </span>,
        formatAmount(BigInt(held), decimals),
        `${formatAmount(BigInt(reserved), decimals)} (${used} %)`,
        heldCents === undefined ? 'no price' : formatCents(BigInt(heldCents)),
      ],
    }
  })
  return (
    <section class="card" aria-labelledby="inventory">
      <h2 id="inventory">Inventory</h2>
      <Table
        label="Inventory"
        heads={['Chain', 'Token', 'Held', 'Reserved', 'Worth']}
        rows={rows}
        none="Nothing was counted yet."
      />
    </section>
  )
}

const WORK: Record<OperatorSender['role'], string> = {
  relay: 'Locks, claims, refunds',
  authorize: 'First locks of wallets',
  deliver: 'Deliveries',
}

/** The keys that pay for transactions. */
export function SendersCard({ overview }: Props) {
  const roleOf = ({ role, isRetiring }: OperatorSender) => `${WORK[role]}${isRetiring ? ', retiring' : ''}`
  const rows = overview.senders.map((sender) => ({
    key: `${sender.chainId} ${sender.role} ${sender.address}`,
    cells: [
      chainName(overview, sender.chainId),
      <Copyable key="key" text={sender.address} label={`address ${sender.address}`} />,
      roleOf(sender),
      <span key="balance">
        {sender.balance === undefined ? 'not known' : formatUnits(sender.balance, sender)}
        {sender.isLow && <Badge tone="bad">low</Badge>}
      </span>,
    ],
  }))
  return (
    <section class="card" aria-labelledby="senders">
      <h2 id="senders">Relayers and fee payers</h2>
      <Table
        label="Relayers and fee payers"
        heads={['Chain', 'Key', 'Pays for', 'Balance']}
        rows={rows}
        none="There are none."
      />
      {overview.gasFloats.map(({ chain, topUpsLeft }) => (
        <p key={chain} class="fine">
          The gas float on {chain} can fill up {topUpsLeft} more keys.
        </p>
      ))}
    </section>
  )
}

/** The balances of the books, and whether the chains match them. */
export function BooksCard({ overview }: Props) {
  const { chains, balances } = overview.books
  const ages = chains.map(
    ({ chainId, ageSeconds }) => `${chainName(overview, chainId)} ${formatSeconds(ageSeconds)} ago`,
  )
  const drifts = overview.stops.filter(({ why }) => why === 'drift')
  const rows = balances.map(({ chainId, token, symbol, decimals, ...accounts }) => ({
    key: `${chainId} ${token}`,
    cells: [
      chainName(overview, chainId),
      symbol,
      ...[accounts.locked, accounts.owed, accounts.inventory].map((amount) =>
        formatAmount(BigInt(amount), decimals),
      ),
      accounts.unexplained === '0' ? (
        '0'
      ) : (
        <Badge key="unexplained" tone="bad">
          {formatAmount(BigInt(accounts.unexplained), decimals)}
        </Badge>
      ),
    ],
  }))
  return (
    <section class="card" aria-labelledby="books">
      <div class="card-head">
        <h2 id="books">Books</h2>
        {drifts.length === 0 ? <Badge tone="good">no drift</Badge> : <Badge tone="bad">drift</Badge>}
      </div>
      <p class="fine">
        {chains.length === 0 ? 'No chain was compared with its books yet.' : `Compared: ${ages.join(', ')}.`}
      </p>
      <Table
        label="Books"
        heads={['Chain', 'Token', 'Locked', 'Owed', 'Inventory', 'Unexplained']}
        rows={rows}
        none="Nothing is booked yet."
      />
    </section>
  )
}
