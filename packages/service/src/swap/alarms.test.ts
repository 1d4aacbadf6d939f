import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { findAlarms, type Watched } from './alarms.ts'

const chain = {
  ...({ chainId: 1, name: 'alpha', family: 'evm', isLive: true, nodes: 1 } as const),
  ...{ exposedCents: '0', lostCents: '0', exposureCapCents: '100' },
  ...{ unclaimedCents: '80', unclaimedCapCents: '100' },
  ...{ finalitySeconds: 100, measuredFinalitySeconds: 100 },
}
const holding = {
  ...{ chainId: 1, token: '0x1', symbol: 'USDC', decimals: 6, asset: 'USDC' },
  ...{ held: '100', reserved: '80', isBought: false, dailyNeed: '20' },
}
const sender = {
  ...({
    chainId: 1,
    address: '0x2',
    role: 'relay',
    isRetiring: false,
    isLow: false,
    symbol: 'ETH',
    decimals: 18,
  } as const),
}
const float = { chain: 'alpha', address: '0x3', topUpsLeft: 3 }
const stop = { id: '1', scope: {}, what: 'USDC on chain 1', note: 'why', by: 'me', since: '2026-01-01' }
const well: Watched = {
  chains: [chain],
  inventory: [holding],
  senders: [sender],
  gasFloats: [float],
  lanesHeld: 1,
  swaps: {
    open: [
      { state: 'locked', count: 3, oldestSeconds: 3_600 },
      { state: 'settled', count: 3, oldestSeconds: 7_200 },
      { state: 'refundBlocked', count: 0, oldestSeconds: 0 },
    ],
    claimMarginUsed: 0.5,
    unsigned: 0,
    quarantined: 0,
    ended: [
      { status: 'refunded', reason: 'NO_LIQUIDITY', count: 20 },
      { status: 'failed', reason: 'PRICE_MOVED', count: 21 },
    ],
  },
  prices: [
    {
      asset: 'ETH',
      price: '1',
      feeds: [
        { feed: 'a', price: '1' },
        { feed: 'b', problem: 'stale' },
      ],
    },
  ],
  books: { chains: [{ chainId: 1, ageSeconds: 900 }], balances: [] },
  stops: [{ ...stop, why: 'operator' }],
  webhooks: { failing: 0, disabled: 0 },
}
const open = (state: string, oldestSeconds: number) => ({
  swaps: {
    open: [{ state, count: 1, oldestSeconds }],
    claimMarginUsed: 0,
    unsigned: 0,
    quarantined: 0,
    ended: [],
  },
})

const calm = { open: [], claimMarginUsed: 0, unsigned: 0, quarantined: 0, ended: [] }

const cases: [string, Partial<Watched>, string][] = [
  ['GeoswapNoWorker', { lanesHeld: 0 }, 'No worker'],
  ['GeoswapChainDown', { chains: [{ ...chain, isLive: false }] }, 'alpha'],
  ['GeoswapGasLow', { senders: [{ ...sender, isLow: true }] }, '0x2 on alpha'],
  ['GeoswapGasFloatLow', { gasFloats: [{ ...float, topUpsLeft: 2 }] }, 'alpha can fill up 2'],
  ['GeoswapSwapStuck', open('delivering', 3_601), 'delivering for 3601'],
  ['GeoswapSwapStuck', open('accepted', 1_201), 'accepted for 1201'],
  ['GeoswapSwapSlow', open('locking', 61), 'locking for 61'],
  ['GeoswapSwapSlow', open('accepted', 61), 'accepted for 61'],
  ['GeoswapSwapSlow', open('delivering', 3_600), 'delivering for 3600'],
  ['GeoswapDrift', { stops: [{ ...stop, why: 'drift' }] }, 'USDC on chain 1 is stopped: why'],
  [
    'GeoswapPriceSourceLost',
    {
      prices: [
        {
          asset: 'ETH',
          feeds: [
            { feed: 'a', price: '1' },
            { feed: 'b', problem: 'stale' },
          ],
        },
      ],
    },
    'ETH has no price',
  ],
  ['GeoswapRefundBlocked', open('refundBlocked', 1), 'frozen'],
  ['GeoswapClaimsLate', { swaps: { ...calm, claimMarginUsed: 0.51 } }, 'Half of the time'],
  ['GeoswapQuarantine', { swaps: { ...calm, quarantined: 3 } }, '3 swaps, events or accounts'],
  ['GeoswapTermsUnsigned', { swaps: { ...calm, unsigned: 2 } }, 'terms of 2 swaps'],
  [
    'GeoswapAttestersChange',
    { chains: [{ ...chain, attesterChangeAt: '2026-01-01' }] },
    'alpha, for refund deadlines from 2026',
  ],
  [
    'GeoswapTokenClosed',
    { chains: [{ ...chain, closed: [{ token: '0x1', symbol: 'USDC', why: 'alpha: it has 9 decimals' }] }] },
    'USDC is closed: alpha: it has 9 decimals',
  ],
  ['GeoswapInputLost', { chains: [{ ...chain, lostCents: '1' }] }, 'alpha'],
  ['GeoswapFinalitySlow', { chains: [{ ...chain, measuredFinalitySeconds: 300 }] }, 'alpha takes longer'],
  ['GeoswapFinalityStalled', { chains: [{ ...chain, measuredFinalitySeconds: 301 }] }, 'alpha'],
  ['GeoswapUnclaimedHigh', { chains: [{ ...chain, unclaimedCents: '81' }] }, 'alpha'],
  ['GeoswapBooksLate', { books: { chains: [{ chainId: 1, ageSeconds: 901 }], balances: [] } }, 'alpha'],
  [
    'GeoswapInventoryLow',
    { inventory: [{ ...holding, reserved: '81', dailyNeed: '19' }] },
    'USDC on alpha is nearly all reserved',
  ],
  [
    'GeoswapInventoryLow',
    { inventory: [{ ...holding, held: '0', reserved: '1', dailyNeed: '0' }] },
    'USDC on alpha is not held at all',
  ],
  [
    'GeoswapInventoryRunsOut',
    { inventory: [{ ...holding, held: '1', reserved: '0' }] },
    'USDC on alpha lasts less than a day',
  ],
  [
    'GeoswapManyRefunds',
    { swaps: { ...calm, ended: [{ status: 'refunded', reason: '', count: 21 }] } },
    '21 swaps',
  ],
  ['GeoswapWebhooksFail', { webhooks: { failing: 0, disabled: 1 } }, 'Webhook'],
]

describe('alarms', () => {
  test('no alarm at the thresholds', () => {
    expect(findAlarms(well)).toEqual([])
  })

  test('no alarm about a token that was never stocked, but about one that ran out', () => {
    const none = { ...holding, held: '0', reserved: '0' }
    const namesOf = (inventory: Watched['inventory']) =>
      findAlarms({ ...well, inventory }).map(({ name }) => name)

    expect(namesOf([{ ...none, dailyNeed: '0' }])).toEqual([])
    expect(namesOf([{ ...none, dailyNeed: '1' }])).toEqual(['GeoswapInventoryRunsOut'])
  })

  test('no alarm about a token that is bought from a pool and never held', () => {
    const bought = { ...holding, held: '0', reserved: '0', isBought: true }
    const soldToUs = { ...bought, held: '1', reserved: '1' }

    expect(findAlarms({ ...well, inventory: [bought, soldToUs] })).toEqual([])
  })

  test.each(cases)('%s beyond its threshold', (name, change, text) => {
    const alarms = findAlarms({ ...well, ...change })

    expect(alarms.map((alarm) => alarm.name)).toEqual([name])
    expect(alarms[0]?.summary).toContain(text)
  })

  test('alarms have the names and severities of those in Prometheus', () => {
    const file = new URL('../../../../deploy/alerts.yaml', import.meta.url)
    type Rules = { groups: { rules: { alert: string; labels: { severity: string } }[] }[] }
    const { groups } = parse(readFileSync(file, 'utf8')) as Rules
    const graded = groups
      .flatMap(({ rules }) => rules)
      .map(({ alert, labels }) => `${alert} ${labels.severity}`)

    const ours = cases.flatMap(([, change]) => findAlarms({ ...well, ...change }))

    expect(graded).toEqual(expect.arrayContaining(ours.map(({ name, severity }) => `${name} ${severity}`)))
  })
})
