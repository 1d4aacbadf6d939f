import type { ComponentChildren } from 'preact'
import { useSession } from '../service/session.ts'

type Props = {
  side: 'pay' | 'receive'
  title: string
  chainId: number
  token: string
  onChain(chainId: number): void
  onToken(address: string): void
  children: ComponentChildren
}

/** One side of the swap: an amount of a token on a chain. */
export function SideFields({ side, title, chainId, token, onChain, onToken, children }: Props) {
  const { catalog } = useSession()
  const tokens = catalog.tokens.filter((each) => each.chainId === chainId)
  const isOffered = (each: { input: boolean; output: boolean }) => (side === 'pay' ? each.input : each.output)
  return (
    <div class="side">
      <div class="side-head">
        <span>{title}</span>
        <select
          aria-label={`${title} on chain`}
          value={chainId}
          onChange={(event) => onChain(Number(event.currentTarget.value))}
        >
          {catalog.chains.map((chain) => (
            <option key={chain.chainId} value={chain.chainId} disabled={!chain.available}>
              {chain.available ? chain.name : `${chain.name} (not available)`}
            </option>
          ))}
        </select>
      </div>
      <div class="side-amount">
        {children}
        <select
          class="token"
          aria-label={`${title}: token`}
          value={token}
          onChange={(event) => onToken(event.currentTarget.value)}
        >
          {tokens.map((each) => (
            <option key={each.address} value={each.address} disabled={!isOffered(each)}>
              {each.symbol}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}
