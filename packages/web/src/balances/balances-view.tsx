import type { ChainEntry } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { formatUnits, formatUsd } from '../amounts.ts'
import { readBalances } from '../chain/balance.ts'
import { Avatar, chainMark, tokenMark } from '../parts/avatar.tsx'
import { NavLink } from '../parts/links.tsx'
import { NoWallet } from '../parts/notice.tsx'
import { hrefOf } from '../route.ts'
import { useSession } from '../service/session.ts'
import { tokenName } from '../swap/order.ts'
import { addressesOf } from '../wallets/use-wallets.ts'
import { type ChainBalances, type ChainPositions, type Position, portfolioOf, totalOf } from './portfolio.ts'

const REFRESH_MS = 10_000

/** The balances of the wallets in use on every chain, read again regularly. */
function useBalances(): Readonly<Record<number, ChainBalances>> {
  const { catalog, settings, wallets } = useSession()
  const [balances, setBalances] = useState<Readonly<Record<number, ChainBalances>>>({})
  const { used } = wallets
  const tokenCount = catalog.tokens.length
  useEffect(() => {
    let isOver = false
    const set = (chainId: number, read: ChainBalances) => {
      if (!isOver) setBalances((all) => ({ ...all, [chainId]: read }))
    }
    const read = async (chain: ChainEntry) => {
      const owner = used[chain.family]?.address
      const rpcUrl = settings.rpcUrls[chain.chainId]
      if (!rpcUrl) return set(chain.chainId, 'noNode')
      if (!owner) return set(chain.chainId, 'noWallet')
      const tokens = catalog.tokens.filter(({ chainId }) => chainId === chain.chainId)
      set(chain.chainId, await readBalances({ chain, tokens, owner, rpcUrl }).catch(() => 'silent' as const))
    }
    const readAll = () => {
      for (const chain of catalog.chains) void read(chain)
    }
    setBalances({})
    readAll()
    const timer = setInterval(readAll, REFRESH_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [addressesOf(wallets).join(), settings, tokenCount])
  return balances
}

/** The holdings of the wallets in use, on all chains. */
export function BalancesView() {
  const { catalog, wallets } = useSession()
  const portfolio = portfolioOf(catalog, useBalances())
  const hasWallet = addressesOf(wallets).length > 0
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
  const { catalog } = useSession()
  const { chainId, address, symbol } = token
  return (
    <li>
      <Avatar mark={tokenMark(symbol)} />
      <span class="unit">{formatUnits(amount, token)}</span>
      <span class="fine">{usd === undefined ? '' : formatUsd(usd)}</span>
      {token.input && (
        <NavLink href={hrefOf('swap', { from: tokenName(catalog, chainId, address) })}>Swap {symbol}</NavLink>
      )}
    </li>
  )
}
