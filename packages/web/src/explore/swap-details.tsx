import type { StatusReply, SwapRecord } from '@geoswap/sdk'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatUnits, type Unit } from '../amounts.ts'
import { explain } from '../explain.ts'
import { mayRefund } from '../families/registry.ts'
import { TxLink } from '../parts/links.tsx'
import { Problem } from '../parts/notice.tsx'
import { Copyable, Row } from '../parts/row.tsx'
import { ReturnedRows, SwapProgress, useSwapEvents } from '../progress/swap-progress.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { deadlinesOf } from '../swap/operation.ts'
import { paidWord, standingOf } from './next.ts'
import { findOperation } from './operations.ts'
import { RefundPanel } from './refund-panel.tsx'
import { findRecord } from './search.ts'

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
export function SwapDetails({ swapId }: { swapId: string }) {
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
