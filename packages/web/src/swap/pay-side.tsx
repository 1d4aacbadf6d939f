import type { QuoteReply } from '@geoswap/sdk'
import { useRef } from 'preact/hooks'
import { readAmount } from '../amount-text.ts'
import type { Balance } from '../chain/use-balance.ts'
import { decimalMark } from '../language.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { formatUsd, readUsd, usdOf } from '../usd.ts'
import { WalletPicker } from '../wallets/wallet-picker.tsx'
import { WayNote } from '../wallets/way-note.tsx'
import { Funds } from './funds.tsx'
import { type Order, onChain } from './order.ts'
import { SideFields } from './side-fields.tsx'

type Props = { order: Order; onChange(order: Order): void; quote: QuoteReply | undefined; funds: Balance }

/** The amount that leaves the wallet, its value, and the wallet. */
export function PaySide({ order, onChange, quote, funds }: Props) {
  const { catalog, wallets } = useSession()
  const field = useRef<HTMLInputElement>(null)
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const origin = chainOf(catalog, order.originChain)
  if (!input || !origin) return null
  const wallet = wallets.used[origin.family]
  const read = readAmount(order.amount, { decimals: input.decimals, mark: decimalMark })
  const usd = read.kind === 'amount' ? (readUsd(quote?.inputUsd) ?? usdOf(read.amount, input)) : undefined
  const fill = (amount: string) => {
    onChange({ ...order, amount })
    // The button that filled it in may be gone.
    field.current?.focus()
  }
  return (
    <>
      <SideFields
        side="pay"
        title="You pay"
        chainId={order.originChain}
        token={order.inputToken}
        onChain={(id) => onChange({ ...order, originChain: id, inputToken: onChain(catalog, input, id) })}
        onToken={(inputToken) => onChange({ ...order, inputToken })}
        value={usd === undefined ? '' : `about ${formatUsd(usd)}`}
      >
        <input
          ref={field}
          class="amount"
          inputMode="decimal"
          autoComplete="off"
          aria-label="Amount to pay"
          aria-invalid={read.kind === 'invalid' || read.kind === 'ambiguous'}
          placeholder="0"
          value={order.amount}
          onInput={(event) => onChange({ ...order, amount: event.currentTarget.value })}
        />
      </SideFields>
      {read.kind === 'ambiguous' && (
        <div class="readings" role="status">
          <span>{order.amount} can mean</span>
          {read.readings.map((text) => (
            <button key={text} type="button" class="quiet" onClick={() => fill(text)}>
              {text} {input.symbol}
            </button>
          ))}
        </div>
      )}
      <WalletPicker chain={origin} label="from" />
      {wallet?.signer.family === 'evm' && !wallet.signer.signAuthorization && (
        <WayNote chain={origin} token={input} wallet={wallet} />
      )}
      <Funds chain={origin} token={input} funds={funds} onAll={fill} />
    </>
  )
}
