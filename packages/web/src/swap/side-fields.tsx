import type { QuoteReply } from '@geoswap/sdk'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { decimalMark, readAmount } from '../amount-text.ts'
import { formatAmount, formatUsd, readUsd, shorten, usdOf } from '../amounts.ts'
import type { Balance } from '../chain/balance.ts'
import { families } from '../families/registry.ts'
import { chainMark, tokenMark } from '../parts/avatar.tsx'
import { Notice } from '../parts/notice.tsx'
import { Picker } from '../parts/picker.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { WalletPicker } from '../wallets/connect-wallet.tsx'
import { type Way, WayNote } from '../wallets/way-note.tsx'
import { Funds } from './funds.tsx'
import { type Order, onChain, recipientProblem } from './order.ts'

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
function SideFields({ side, title, chainId, token, onChain, onToken, children, value }: Props) {
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

type PaySideProps = {
  order: Order
  onChange(order: Order): void
  quote: QuoteReply | undefined
  way: Way
  funds: Balance
}

/** The amount that leaves the wallet, its value, and the wallet. */
export function PaySide({ order, onChange, quote, way, funds }: PaySideProps) {
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
      {wallet && <WayNote way={way} chain={origin} token={input} wallet={wallet} />}
      <Funds chain={origin} token={input} funds={funds} onAll={fill} />
    </>
  )
}

type ReceiveSideProps = { order: Order; onChange(order: Order): void; quote: QuoteReply | undefined }

/** The output and its recipient. */
export function ReceiveSide({ order, onChange, quote }: ReceiveSideProps) {
  const { catalog, wallets } = useSession()
  const output = tokenOf(catalog, order.destinationChain, order.outputToken)
  const destination = chainOf(catalog, order.destinationChain)
  if (!output || !destination) return null
  const usd = readUsd(quote?.outputUsd)
  const problem = recipientProblem(order.recipient, destination)
  const recipient = order.recipient.trim()
  const isOther = recipient !== '' && recipient !== wallets.used[destination.family]?.address
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
      <WalletPicker chain={destination} label="to" other={isOther ? recipient : ''}>
        <label class="field">
          <span>Send it to another address</span>
          <input
            class="mono"
            autoComplete="off"
            spellcheck={false}
            placeholder={`For ${destination.name}: ${families[destination.family].words.anAddress}`}
            aria-invalid={problem !== undefined}
            value={order.recipient}
            onInput={(event) => onChange({ ...order, recipient: event.currentTarget.value })}
          />
        </label>
      </WalletPicker>
      {isOther && (
        <Notice tone={problem ? 'warn' : 'plain'}>
          <p>
            {problem ?? 'Another address than your wallet is paid:'} <span class="mono">{recipient}</span>
          </p>
          <button type="button" class="quiet" onClick={() => onChange({ ...order, recipient: '' })}>
            Pay my wallet instead
          </button>
        </Notice>
      )}
    </>
  )
}
