import type { StatusReply, SwapRecord } from '@geoswap/sdk'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatUnits, type Unit } from '../amounts.ts'
import { explain } from '../explain.ts'
import { mayRefund } from '../families/registry.ts'
import { TxLink } from '../parts/links.tsx'
import { Problem } from '../parts/notice.tsx'
import { Copyable, Row } from '../parts/row.tsx'
import { ReturnedRows, SwapProgress, useSwapEvents } from '../progress/swap-progress.tsx'
import { go, hrefOf, useRoute } from '../route.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { deadlinesOf, findOperation } from '../swap/operation.ts'
import { History } from './history.tsx'
import { paidWord, standingOf } from './next.ts'
import { RefundPanel } from './refund-panel.tsx'
import { findByTransaction, findRecord, readSearch } from './search.ts'

/** Shows what the URL searches for, until something else is typed. */
function SearchBox({ searched }: { searched: string }) {
  const [text, setText] = useState(searched)
  const [isUnread, setUnread] = useState(false)
  useEffect(() => setText(searched), [searched])
  const submit = (event: Event) => {
    event.preventDefault()
    const search = readSearch(text)
    setUnread(!search && text.trim() !== '')
    if (search) go(hrefOf('explore', { [search.kind]: search.value }))
    else if (text.trim() === '') go(hrefOf('explore'))
  }
  return (
    <search>
      <form class="search" onSubmit={submit}>
        <label class="field">
          <span>Swap id, transaction or wallet</span>
          <input
            class="mono"
            autoComplete="off"
            spellcheck={false}
            value={text}
            aria-invalid={isUnread}
            aria-describedby="search-hint"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Find
        </button>
      </form>
      <p class="hint" id="search-hint" role="status">
        {isUnread &&
          'That is neither a swap id (swp_…), nor a transaction hash, nor an address. Paste it whole.'}
      </p>
    </search>
  )
}

/** Searches the swap of a transaction and navigates to it. */
function TransactionSearch({ hash }: { hash: string }) {
  const { client } = useSession()
  const [state, setState] = useState<{ error?: unknown; isOver: boolean }>({ isOver: false })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    findByTransaction(client, hash, signal).then(
      (found) => (found ? go(hrefOf('explore', { swap: found.swapId })) : setState({ isOver: true })),
      (error: unknown) => signal.aborted || setState({ error, isOver: true }),
    )
    return () => controller.abort()
  }, [client, hash])
  if (state.error) return <Problem explained={explain(state.error)} />
  return (
    <p class="loading" role="status">
      {state.isOver
        ? 'None of the newest thousand swaps of this key has that transaction. Search by wallet or by swap id.'
        : 'Looking through the newest swaps…'}
    </p>
  )
}

/** The agreed amounts and the result. */
function DetailRows({ swap, record }: { swap: StatusReply; record: SwapRecord | undefined }) {
  const { catalog } = useSession()
  const input = record && tokenOf(catalog, swap.originChain, record.inputToken)
  const output = record && tokenOf(catalog, swap.destinationChain, record.outputToken)
  const { amounts } = swap
  const nameOf = (chainId: number) => chainOf(catalog, chainId)?.name ?? `chain ${chainId}`
  return (
    <dl class="rows">
      <Row name="Swap">
        <Copyable text={swap.swapId} label="swap id" />
      </Row>
      <Row name="Created">{new Date(swap.createdAt).toLocaleString()}</Row>
      <Row name={`${paidWord(swap)} on ${nameOf(swap.originChain)}`}>{write(amounts.input, input)}</Row>
      <Row name={`Quoted on ${nameOf(swap.destinationChain)}`}>{write(amounts.quotedOutput, output)}</Row>
      <Row name="Guaranteed">{write(amounts.minOutput, output)}</Row>
      <Row name="Delivered">{amounts.delivered === undefined ? '–' : write(amounts.delivered, output)}</Row>
      <Row name="Wallet">{record ? <Copyable text={record.walletAddress} label="wallet" /> : '–'}</Row>
      <Row name="Recipient">{record ? <Copyable text={record.recipient} label="recipient" /> : '–'}</Row>
      {swap.deposit && (
        <Row name="Deposit address">
          <Copyable text={swap.deposit.address} label="deposit address" />
        </Row>
      )}
      {swap.deposit?.txHash && (
        <Row name="Deposited by">
          <TxLink hash={swap.deposit.txHash} chainId={swap.originChain} label="transaction of the deposit" />
        </Row>
      )}
      <ReturnedRows swap={swap} />
    </dl>
  )
}

function write(amount: string, unit: Unit | undefined): string {
  return unit ? formatUnits(amount, unit) : '…'
}

/** One swap: its request, its changes, where the funds are and what happens next. */
function SwapDetails({ swapId }: { swapId: string }) {
  const { catalog } = useSession()
  const { swap, error } = useSwapEvents(swapId)
  const record = useRecord(swap)
  const operation = useMemo(() => findOperation(swapId), [swapId])
  if (!swap)
    return error ? (
      <Problem explained={explain(error)} />
    ) : (
      <p class="loading" role="status">
        Reading the swap…
      </p>
    )
  const origin = chainOf(catalog, swap.originChain)
  const deadlines = operation === undefined ? {} : deadlinesOf(operation)
  const { where, next } = standingOf(swap, { deadlines })
  return (
    <div class="columns">
      <section class="card progress" aria-labelledby="details-title">
        <h1 id="details-title">Swap</h1>
        <SwapProgress swap={swap} terms={record} />
      </section>
      <section class="card" aria-labelledby="standing-title">
        <h2 id="standing-title">Where it stands</h2>
        <p class="prose">
          {where} {next}
        </p>
        <DetailRows swap={swap} record={record} />
        {mayRefund(origin) && swap.status === 'pending' && (
          <RefundPanel swapId={swapId} remembered={operation} />
        )}
      </section>
    </div>
  )
}

/** The request of the swap: only the history has it, the status does not. */
function useRecord(swap: StatusReply | undefined): SwapRecord | undefined {
  const { client } = useSession()
  const [record, setRecord] = useState<SwapRecord>()
  const swapId = swap?.swapId
  const createdAt = swap?.createdAt
  useEffect(() => {
    if (swapId === undefined || createdAt === undefined) return undefined
    const controller = new AbortController()
    // Without the record amounts have no symbols; everything else is still shown.
    findRecord(client, { swapId, createdAt }, controller.signal).then(setRecord, () => {})
    return () => controller.abort()
  }, [client, swapId, createdAt])
  return record
}

/** Shows a swap by id, transaction or wallet, and the account's history. The URL selects the view. */
export function ExploreView() {
  const { query } = useRoute()
  const swapId = query.get('swap')
  const hash = query.get('tx')
  const searched = swapId ?? hash ?? query.get('wallet') ?? ''
  return (
    <>
      <SearchBox searched={searched} />
      {swapId ? (
        <SwapDetails key={swapId} swapId={swapId} />
      ) : hash ? (
        <TransactionSearch key={hash} hash={hash} />
      ) : (
        <History query={query} />
      )}
    </>
  )
}
