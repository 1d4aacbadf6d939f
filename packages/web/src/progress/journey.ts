import type { StatusReply } from '@geoswap/sdk'
import { isSentMethod } from '@geoswap/wire/names'

type Substatus = StatusReply['substatus']

/** Where the input is: with its owner, on the way into or out of the escrow, in it, or with the operator. */
type InputPlace = 'wallet' | 'taking' | 'escrow' | 'returning' | 'returned' | 'spent'
/** Where the output is: with the operator, on its way, or with the recipient. */
type OutputPlace = 'vault' | 'paying' | 'paid' | 'never'

export type Journey = { input: InputPlace; output: OutputPlace }

const JOURNEYS: Readonly<Record<Substatus, Journey>> = {
  awaitingDeposit: { input: 'wallet', output: 'vault' },
  accepted: { input: 'wallet', output: 'vault' },
  locking: { input: 'taking', output: 'vault' },
  locked: { input: 'escrow', output: 'vault' },
  delivering: { input: 'escrow', output: 'paying' },
  delivered: { input: 'spent', output: 'paid' },
  refunding: { input: 'returning', output: 'never' },
  refundBlocked: { input: 'escrow', output: 'never' },
  refunded: { input: 'returned', output: 'never' },
  failed: { input: 'wallet', output: 'never' },
}

export function journeyOf({ substatus }: Pick<StatusReply, 'substatus'>): Journey {
  // A service may add substatuses: show the funds in between.
  return JOURNEYS[substatus] ?? { input: 'escrow', output: 'vault' }
}

export type Step = {
  stage: string
  title: string
  state: 'done' | 'now' | 'ahead' | 'bad'
  at?: string
  /** Milliseconds since the previous step. */
  tookMs?: number
  txHash?: string
  chainId?: number
}

const TITLES: Readonly<Record<string, string>> = {
  awaitingDeposit: 'Waiting for the deposit',
  accepted: 'Accepted by the service',
  locking: 'Taking the input from the wallet',
  locked: 'Input locked',
  delivering: 'Paying the recipient',
  delivered: 'Delivered',
  refunding: 'Sending the input back',
  refundBlocked: 'The wallet cannot take its refund yet',
  refunded: 'Refunded',
  failed: 'Ended before the input was taken',
}

const DEPOSIT_TITLES: Readonly<Record<string, string>> = {
  accepted: 'Deposit seen',
  locking: 'Taking the deposit',
  failed: 'Ended before the deposit was taken',
}

const USUAL = ['accepted', 'locking', 'locked', 'delivering', 'delivered']
const REFUND = ['refunding', 'refunded']

/** The past steps, and the expected ones. */
export function stepsOf({
  timeline,
  status,
  substatus,
  method,
}: Pick<StatusReply, 'timeline' | 'status' | 'substatus' | 'method'>): Step[] {
  const titleOf = (stage: string) =>
    (method && isSentMethod(method) ? DEPOSIT_TITLES[stage] : undefined) ?? TITLES[stage] ?? stage
  const past = timeline.map((entry, index): Step => {
    const before = timeline[index - 1]
    const isLast = index === timeline.length - 1
    return {
      ...entry,
      title: titleOf(entry.stage),
      state: isLast && status === 'pending' ? 'now' : isBad(entry.stage) ? 'bad' : 'done',
      tookMs: before && Date.parse(entry.at) - Date.parse(before.at),
    }
  })
  if (status !== 'pending') return past
  return [
    ...past,
    ...ahead(substatus).map((stage): Step => ({ stage, title: titleOf(stage), state: 'ahead' })),
  ]
}

function ahead(substatus: string): string[] {
  if (substatus === 'awaitingDeposit') return USUAL
  if (substatus === 'refundBlocked') return ['refunded']
  const path = substatus.startsWith('refund') ? REFUND : USUAL
  const at = path.indexOf(substatus)
  return at === -1 ? [] : path.slice(at + 1)
}

function isBad(stage: string): boolean {
  return stage === 'failed' || stage === 'refunded'
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
