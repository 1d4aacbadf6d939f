import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { WalletPicker } from '../wallets/wallet-picker.tsx'
import { Funds } from './funds.tsx'
import { type Order, onChain } from './order.ts'
import { SideFields } from './side-fields.tsx'

/** The amount that leaves the wallet, and the wallet. */
export function PaySide({ order, onChange }: { order: Order; onChange(order: Order): void }) {
  const { catalog } = useSession()
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const origin = chainOf(catalog, order.originChain)
  if (!input || !origin) return null
  return (
    <>
      <SideFields
        side="pay"
        title="You pay"
        chainId={order.originChain}
        token={order.inputToken}
        onChain={(id) => onChange({ ...order, originChain: id, inputToken: onChain(catalog, input, id) })}
        onToken={(inputToken) => onChange({ ...order, inputToken })}
      >
        <input
          class="amount"
          inputMode="decimal"
          autoComplete="off"
          aria-label="Amount to pay"
          placeholder="0"
          value={order.amount}
          onInput={(event) => onChange({ ...order, amount: event.currentTarget.value })}
        />
      </SideFields>
      <WalletPicker chain={origin} label="from" />
      <Funds chain={origin} token={input} onAll={(amount) => onChange({ ...order, amount })} />
    </>
  )
}
