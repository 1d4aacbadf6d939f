import type { QuoteReply } from '@geoswap/sdk'
import { formatAmount } from '../amounts.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { formatUsd, readUsd } from '../usd.ts'
import { WalletPicker } from '../wallets/wallet-picker.tsx'
import { type Order, onChain } from './order.ts'
import { SideFields } from './side-fields.tsx'

type Props = { order: Order; onChange(order: Order): void; quote: QuoteReply | undefined }

/** The output and its recipient. */
export function ReceiveSide({ order, onChange, quote }: Props) {
  const { catalog } = useSession()
  const output = tokenOf(catalog, order.destinationChain, order.outputToken)
  const destination = chainOf(catalog, order.destinationChain)
  if (!output || !destination) return null
  const usd = readUsd(quote?.outputUsd)
  const move = (id: number) =>
    onChange({ ...order, destinationChain: id, outputToken: onChain(catalog, output, id), recipient: '' })
  return (
    <>
      <SideFields
        side="receive"
        title="You receive"
        chainId={order.destinationChain}
        token={order.outputToken}
        onChain={move}
        onToken={(outputToken) => onChange({ ...order, outputToken })}
        value={usd === undefined ? '' : `about ${formatUsd(usd)}`}
      >
        <output class="amount" aria-label="Amount to receive">
          {quote ? formatAmount(BigInt(quote.output), output.decimals) : '–'}
        </output>
      </SideFields>
      <WalletPicker chain={destination} label="to">
        <label class="field">
          <span>Send it to another address</span>
          <input
            class="mono"
            autoComplete="off"
            spellcheck={false}
            placeholder={destination.family === 'evm' ? '0x…' : 'A Solana address'}
            value={order.recipient}
            onInput={(event) => onChange({ ...order, recipient: event.currentTarget.value })}
          />
        </label>
      </WalletPicker>
    </>
  )
}
