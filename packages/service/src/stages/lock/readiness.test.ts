import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Heads } from '../../chains/chain.ts'
import type { Party } from '../../screen/screening.ts'
import { defaultGasBudgets } from '../../swap/budgets.ts'
import type { Paid } from '../../swap/pricing.ts'
import type { Swap } from '../../swap/swap.ts'
import { type Readiness, type ReadinessDeps, readinessOf } from './readiness.ts'

const QUOTED: Paid = { output: 100n, pay: 100n }
const LESS: Paid = { output: 99n, pay: 99n }
const [ORIGIN, DESTINATION, DEADLINE, LATE] = [1, 2, 100, 9]
const CHANGED_AT = 1_000

type Seen = {
  seconds?: number
  gone?: number
  silent?: number
  late?: number
  paid?: Paid | 'moved' | undefined
  pricedAt?: number
  isLocking?: boolean
  obstacle?: 'INPUT_UNAVAILABLE' | 'INVALID_AUTHORIZATION'
  delivery?: string
  method?: 'deposit' | 'permit' | 'payment'
  isContract?: boolean
  /** Of this hour, in cents, by its wallet. */
  wastedCents?: bigint
  passes?: boolean
  affords?: bigint
  verdict?: 'allow' | 'deny' | 'unknown'
  /** Those who sent the whole input to the address of a payment before its lock. */
  sentBy?: string
}

const INPUT = 10n
/** Of an op whose address has the input from one sender, or nothing. */
const waysOf = (sentBy: string | undefined) => ({
  readDeposits: async (ops: readonly Swap['op'][]) =>
    new Map(ops.map(({ hash, inputToken: token }) => [hash, [{ token, amount: sentBy ? INPUT : 0n }]])),
  findDepositTransfers: async () => ({
    transfers: [{ id: '1', from: sentBy ?? expect.unreachable(), amount: INPUT }],
    isWhole: true,
  }),
})

function judge({
  seconds = DEADLINE - LATE - 1,
  delivery = 'ok',
  affords = 5n,
  ...seen
}: Seen): Promise<Readiness> {
  const deps = {
    origin: {
      findObstacle: async () => seen.obstacle,
      planLock: async () => ({}),
      ways: waysOf(seen.sentBy),
    },
    sender: {
      affords: async (_heads: Heads, bound: bigint) => bound <= affords,
      simulates: async () => seen.passes ?? expect.unreachable('Its lock depends on no code of strangers'),
    },
    gasBudgets: defaultGasBudgets,
    screening: {
      isStrict: true,
      async ofSwap(parties: readonly Party[]) {
        const sender = parties.find(({ role }) => role === 'depositor')?.address
        return sender === 'listed' ? 'deny' : sender === 'odd' ? 'unknown' : (seen.verdict ?? 'allow')
      },
    },
    destinationOf: (chainId: number) => ({
      async simulateDelivery({ quotedOutput }: Swap['op']) {
        expect(quotedOutput).toBe(seen.paid === LESS && !seen.isLocking ? LESS.output : QUOTED.output)
        return { kind: chainId === DESTINATION ? delivery : 'wrong chain' }
      },
    }),
    isLive: (chainId: number) => chainId !== seen.silent,
    isGone: (chainId: number) => chainId === seen.gone,
    isLate: (chainId: number) => chainId === seen.late,
    lateLockSeconds: LATE,
    paidNow(_op: Swap['op'], at: number) {
      if (at >= (seen.pricedAt ?? CHANGED_AT + 1)) return undefined
      return 'paid' in seen ? seen.paid : QUOTED
    },
  }
  const op = {
    originChain: ORIGIN,
    destinationChain: DESTINATION,
    opDeadline: DEADLINE,
    lockFeeBound: 5n,
    quotedOutput: QUOTED.output,
    payAmount: QUOTED.pay,
    inputAmount: INPUT,
    wallet: 'payer',
    method: seen.method ?? 'delegation',
    isContract: seen.isContract,
  }
  const swap = { op, state: seen.isLocking ? 'locking' : 'accepted', changedAt: CHANGED_AT } as Swap
  const wasted = { wallet: (seen.wastedCents ?? 0n) * 10_000n, account: 0n, chain: 0n, isKnown: false }
  return readinessOf(stub<ReadinessDeps>(deps), { head: { seconds } } as Heads, swap, wasted)
}

const declined = (code: string) => ({ kind: 'decline', code })
const wait = { kind: 'wait' }
const paid: Seen = { method: 'payment', passes: true }

test.each<[string, Seen, object]>([
  ['that nothing speaks against is locked', {}, { kind: 'ready' }],
  ['at its deadline is declined', { seconds: DEADLINE }, declined('OPERATION_EXPIRED')],
  [
    'that could be locked too late only is declined',
    { seconds: DEADLINE - LATE },
    declined('OPERATION_EXPIRED'),
  ],
  ['to a chain that is gone is declined', { gone: DESTINATION }, declined('DESTINATION_UNAVAILABLE')],
  ['to a silent chain waits', { silent: DESTINATION }, wait],
  ['from a chain with late finality waits', { late: ORIGIN }, wait],
  ['to a chain with late finality waits', { late: DESTINATION }, wait],
  ['beside a chain with late finality is locked', { late: 3 }, { kind: 'ready' }],
  ['that waited for finality expires', { late: ORIGIN, seconds: DEADLINE }, declined('OPERATION_EXPIRED')],
  ['without a fresh price waits', { paid: undefined }, wait],
  ['with a price that is no newer than itself waits', { pricedAt: CHANGED_AT }, wait],
  [
    'with a price that is no newer than itself expires',
    { pricedAt: CHANGED_AT, seconds: DEADLINE },
    declined('OPERATION_EXPIRED'),
  ],
  ['whose price moved below its minimum is declined', { paid: 'moved' }, declined('PRICE_MOVED')],
  ['whose price moved less is locked for less', { paid: LESS }, { kind: 'ready', lowered: LESS }],
  ['whose lock is sent again without a price waits', { isLocking: true, paid: undefined }, wait],
  ['whose lock is sent again keeps its output', { isLocking: true }, { kind: 'ready' }],
  [
    'whose lock would be sent again for less is declined: its wallet may have waited for that',
    { isLocking: true, paid: LESS },
    declined('PRICE_MOVED'),
  ],
  ['of a wallet that wasted too much gas is declined', { wastedCents: 200n }, declined('INPUT_UNAVAILABLE')],
  ['of a wallet that wasted little gas is locked', { wastedCents: 199n }, { kind: 'ready' }],
  [
    'that was deposited is locked whatever was wasted',
    { wastedCents: 200n, method: 'deposit' },
    { kind: 'ready' },
  ],
  [
    'of a contract wallet that would refuse the relayer is declined',
    { isContract: true, passes: false },
    declined('INPUT_UNAVAILABLE'),
  ],
  ['of a contract wallet that accepts it is locked', { isContract: true, passes: true }, { kind: 'ready' }],
  [
    'by a permit that no longer works is declined',
    { method: 'permit', passes: false },
    declined('INPUT_UNAVAILABLE'),
  ],
  ['whose parties are denied is declined', { verdict: 'deny' }, declined('ADDRESS_BLOCKED')],
  ['whose parties have no verdict waits', { verdict: 'unknown' }, wait],
  ['whose payment was used before its lock is locked', { ...paid, sentBy: 'payer' }, { kind: 'ready' }],
  ['paid by a denied sender is declined', { ...paid, sentBy: 'listed' }, declined('ADDRESS_BLOCKED')],
  ['paid by a sender without a verdict waits', { ...paid, sentBy: 'odd' }, wait],
  ['that is not paid yet is locked', paid, { kind: 'ready' }],
  ['whose input is gone is declined', { obstacle: 'INPUT_UNAVAILABLE' }, declined('INPUT_UNAVAILABLE')],
  [
    'whose authorization is invalid is declined, also by deposit',
    { obstacle: 'INVALID_AUTHORIZATION', method: 'deposit' },
    declined('INVALID_AUTHORIZATION'),
  ],
  [
    'whose deposit a reorg undid waits for it again',
    { obstacle: 'INPUT_UNAVAILABLE', method: 'deposit' },
    { kind: 'depositLost' },
  ],
  ['that its recipient refuses is declined', { delivery: 'recipientRefuses' }, declined('RECIPIENT_INVALID')],
  ['that the vault cannot pay is declined', { delivery: 'noLiquidity' }, declined('DESTINATION_UNAVAILABLE')],
  ['whose purchase became dearer is declined', { delivery: 'priceMoved' }, declined('PRICE_MOVED')],
  ['that cannot be simulated waits', { delivery: 'unknown' }, wait],
  ['above its fee bound waits', { affords: 4n }, wait],
])('a swap %s', async (_, seen, readiness) => {
  expect(await judge(seen)).toEqual(readiness)
})
