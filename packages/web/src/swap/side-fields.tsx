import type { ComponentChildren } from 'preact'
import { shorten } from '../amounts.ts'
import { chainMark, tokenMark } from '../parts/marks.ts'
import { Picker } from '../parts/picker.tsx'
import { useSession } from '../service/session.ts'

type Props = {
  side: 'pay' | 'receive'
  title: string
  chainId: number
  token: string
  onChain(chainId: number): void
  onToken(address: string): void
  children: ComponentChildren
  /** Below the amount: its value. */
  value: string
}

/** One side of the swap: an amount of a token on a chain. */
export function SideFields({ side, title, chainId, token, onChain, onToken, children, value }: Props) {
  const { catalog } = useSession()
  const chains = catalog.chains.map((chain) => ({
    id: String(chain.chainId),
    name: chain.name,
    mark: chainMark(chain),
    detail: `chain ${chain.chainId}`,
    refusal: chain.available ? undefined : 'not available now',
  }))
  const tokens = catalog.tokens
    .filter((each) => each.chainId === chainId)
    .map((each) => ({
      id: each.address,
      name: each.symbol,
      mark: tokenMark(each.symbol),
      detail: each.native ? 'coin of the chain' : shorten(each.address),
      refusal: (side === 'pay' ? each.input : each.output) ? undefined : 'not available now',
    }))
  return (
    <div class="side">
      <div class="side-head">
        <span>{title}</span>
        <Picker
          label={`${title} on chain`}
          title={`${title} on`}
          items={chains}
          value={String(chainId)}
          onPick={(id) => onChain(Number(id))}
        />
      </div>
      <div class="side-amount">
        {children}
        <Picker
          class="token"
          label={`${title}: token`}
          title={title}
          items={tokens}
          value={token}
          onPick={onToken}
        />
      </div>
      <p class="side-value fine">{value}</p>
    </div>
  )
}
