import {
  type Client,
  type DepositPayment,
  intentOf,
  PAYMENT_MARGIN_MS,
  type PaymentTransaction,
  type QuoteRequest,
  type Signer,
  type Submission,
} from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { type BatchState, batchOf, followBatch } from '../families/batch.ts'
import type { Wallet } from '../families/family.ts'
import { createObservable, useObservable } from '../route.ts'
import { forget, keep, readStored } from '../storage.ts'
import { rememberOperation } from './operation.ts'
import { isAsked, signatures } from './signatures.ts'

/** A transfer of the wallet as it is stored: amounts are text. */
export type StoredPayment = Omit<DepositPayment, 'amount' | 'transaction'> & {
  amount: string
  transaction: Omit<PaymentTransaction, 'value'> & { value: string }
}

/** The swap of this tab, from its signature on. It is stored before anything is sent. */
export type ActiveSwap = {
  request: QuoteRequest
  /** The order in the words of its address, where the back button leads. */
  order: string
  /** Absent if the input is deposited: nothing is signed. */
  submission?: Submission
  /** In seconds: the signature can be used until then, whatever the service says. */
  lockableUntil?: number
  /** The transfer that the swap waits for. `openedAt` is in milliseconds. */
  deposit?: { address: string; amount: string; until: string; openedAt: number }
  /** The transfer by which the wallet itself pays, after the submission and once. */
  payment?: StoredPayment | undefined
  /** The wallet's answer to it: a hash, or the name of its batch. */
  paidBy?: string | undefined
  /** The decoded signed operation: with it an EVM input can be refunded without the service. */
  operation: unknown
  /** Set once the service has accepted the submission. */
  swapId?: string
}

/** The same before and after the service has answered. */
export const keyOf = ({ submission, swapId }: ActiveSwap): string => submission?.geoOpToken ?? swapId ?? ''

const NAME = 'active-swap'
const active = createObservable(readStored<ActiveSwap>(NAME))

export const useActiveSwap = (): ActiveSwap | undefined => useObservable(active)

export function setActiveSwap(swap: ActiveSwap | undefined): void {
  if (swap) keep(NAME, swap)
  else forget(NAME)
  active.set(swap)
}

/** Changes the swap of this tab, unless that is another one by now. */
function changeActiveSwap(key: string, change: Partial<ActiveSwap>): void {
  const now = active.get()
  if (now && keyOf(now) === key) setActiveSwap({ ...now, ...change })
}

export const toStored = ({ amount, transaction, ...rest }: DepositPayment): StoredPayment => ({
  ...rest,
  amount: String(amount),
  transaction: { ...transaction, value: String(transaction.value) },
})

const fromStored = ({ amount, transaction, ...rest }: StoredPayment): DepositPayment => ({
  ...rest,
  amount: BigInt(amount),
  transaction: { ...transaction, value: BigInt(transaction.value) },
})

/** Whether it is too late to ask a wallet for a payment: the SDK would refuse it. */
export const isTooLate = ({ until }: { until: number }, nowMs: number): boolean =>
  nowMs >= until * 1_000 - PAYMENT_MARGIN_MS

type Asking = { key: string; isOver: boolean; error?: unknown }

/** The payment that this page asked for last. It goes on when the view is left. */
const asking = createObservable<Asking | undefined>(undefined)

/** Submits the swap and has the wallet pay: the SDK remembers that it was asked. */
export async function askToPay(client: Client, active: ActiveSwap, signer: Signer): Promise<void> {
  const { request, submission, payment, operation } = active
  if (!submission || !payment) return
  const key = keyOf(active)
  const last = asking.get()
  if (last?.key === key && !last.isOver) return
  asking.set({ key, isOver: false })
  const end = (error?: unknown) => {
    if (asking.get()?.key === key) asking.set({ key, isOver: true, error })
  }
  const prepared = { request, submission, payment: fromStored(payment) }
  const paid = client.pay(prepared, signer, {
    onProgress(progress) {
      if (progress.step !== 'submitted') return
      rememberOperation(progress.swapId, operation)
      changeActiveSwap(key, { swapId: progress.swapId })
    },
  })
  await paid.then(({ txHash }) => {
    if (txHash !== undefined) changeActiveSwap(key, { paidBy: txHash })
    end()
  }, end)
}

export type Payment = { isAsking: boolean; wasAsked: boolean; isSent: boolean; error?: unknown }

/** The state of the payment of a swap: also after a reload, whether the wallet was asked for it. */
export function usePayment(active: ActiveSwap): Payment {
  const asked = useObservable(asking)
  const own = asked?.key === keyOf(active) ? asked : undefined
  return {
    isAsking: own?.isOver === false,
    wasAsked: isAsked(signatures.get(intentOf(active.request))),
    isSent: active.paidBy !== undefined,
    error: own?.error,
  }
}

/** Where a payment stands that the wallet took as a batch; undefined for a transaction. */
export function useBatch({ paidBy }: ActiveSwap, wallet: Wallet | undefined, isAwaited: boolean) {
  const id = batchOf(paidBy)
  const batches = wallet?.batches
  const [state, setState] = useState<BatchState>('unknown')
  useEffect(() => {
    if (id === undefined || !batches || !isAwaited) return undefined
    return followBatch(() => batches.stateOf(id), setState)
  }, [id, batches, isAwaited])
  return id === undefined ? undefined : state
}
