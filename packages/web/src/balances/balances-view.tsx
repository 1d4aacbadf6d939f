import { formatUnits } from '../amounts.ts'
import { Avatar } from '../parts/avatar.tsx'
import { chainMark, tokenMark } from '../parts/marks.ts'
import { NavLink } from '../parts/nav-link.tsx'
import { NoWallet } from '../parts/no-wallet.tsx'
import { hrefOf } from '../route.ts'
import { useSession } from '../service/session.ts'
import { formatUsd } from '../usd.ts'
import { type ChainPositions, type Position, portfolioOf, totalOf } from './portfolio.ts'
import { useBalances } from './use-balances.ts'

/** The holdings of the wallets in use, on all chains. */
export function BalancesView() {
  const { catalog, wallets } = useSession()
  const portfolio = portfolioOf(catalog, useBalances())
  const hasWallet = wallets.used.evm !== undefined || wallets.used.solana !== undefined
  return (
    <section class="card" aria-labelledby="balances-title">
      <div class="quote-head">
        <h1 id="balances-title">Balances</h1>
        {hasWallet && <span class="total">{formatUsd(totalOf(portfolio))}</span>}
      </div>
      {hasWallet ? (
        portfolio.map((each) => <ChainSection key={each.chain.chainId} {...each} />)
      ) : (
        <NoWallet words="Connect a wallet to see what it holds." />
      )}
    </section>
  )
}

function ChainSection({ chain, positions, note }: ChainPositions) {
  return (
    <section class="holdings" aria-label={chain.name}>
      <h2>
        <Avatar mark={chainMark(chain)} /> {chain.name}
      </h2>
      {note && <p class="fine">{note}</p>}
      {positions.length > 0 && (
        <ul>
          {positions.map((position) => (
            <PositionRow key={position.token.address} {...position} />
          ))}
        </ul>
      )}
    </section>
  )
}

function PositionRow({ token, amount, usd }: Position) {
  const { chainId, address, symbol } = token
  return (
    <li>
      <Avatar mark={tokenMark(symbol)} />
      <span class="unit">{formatUnits(amount, token)}</span>
      <span class="fine">{usd === undefined ? '' : formatUsd(usd)}</span>
      {token.input && (
        <NavLink href={hrefOf('swap', { chain: String(chainId), token: address })}>Swap {symbol}</NavLink>
      )}
    </li>
  )
}
