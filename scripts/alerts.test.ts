import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { defaultDeadlines } from '../packages/service/src/config.ts'
import { fires } from './alert-rules.ts'
import { isTest, ROOT, readSources } from './sources.ts'

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook_url: string } }

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const rules: Rule[] = parse(read('deploy/alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
)
const sources = readSources().filter(({ path }) => path.startsWith('packages/service/src/') && !isTest(path))
const metrics = new Set(
  sources.flatMap(({ text }) => [...text.matchAll(/name: '(geoswap_\w+)'/g)].map(([, name = '']) => name)),
)

const refunded = (reason: string, count: number) =>
  `geoswap_swaps_ended{status="refunded",reason="${reason}"} ${count}`
const answered = (status: number, count: number) =>
  `geoswap_http_request_duration_seconds_count{route="r",status="${status}"} ${count}`

const quoted = (failed: number, all: number) =>
  [
    { status: 503, count: failed },
    { status: 200, count: all - failed },
  ]
    .map(({ status, count }) => {
      const labels = `route="POST /swap/quote",status="${status}"`
      return `geoswap_http_request_duration_seconds_count{${labels}} ${count}`
    })
    .join('\n')
const settled = (late: number, all: number) =>
  `geoswap_settled_total{promise="late"} ${late}\ngeoswap_settled_total{promise="kept"} ${all - late}`

const faults = (kind: string, count: number) => `geoswap_faults_total{kind="${kind}"} ${count}`
const disk = (what: string, at: string, bytes: number) =>
  `node_filesystem_${what}_bytes{mountpoint="${at}"} ${bytes}`
const inDays = (days: number) => Date.now() / 1_000 + days * 86_400

const NOBODY = 'up{job="other"} 1'

/** By alarm: samples that raise it, samples that do not, and for counters the samples of the scrape before. */
const cases: Record<string, { bad: string; good: string; before?: string }> = {
  GeoswapProcessDown: { bad: 'up{job="geoswap"} 0', good: 'up{job="geoswap"} 1\nup{job="other"} 0' },
  GeoswapDatabaseDown: { bad: 'geoswap_database_up 0', good: 'geoswap_database_up 1' },
  GeoswapNodeLost: {
    bad: 'geoswap_node_up{chain="base",node="a"} 1\ngeoswap_node_up{chain="base",node="b"} 0',
    good: 'geoswap_node_up{chain="base",node="a"} 1',
  },
  GeoswapNodeBudget: {
    bad: 'geoswap_node_budget_used_ratio{chain="base"} 1.1',
    good: 'geoswap_node_budget_used_ratio{chain="base"} 0.4\ngeoswap_node_budget_used_ratio{chain="beta"} 0.4',
  },
  GeoswapNoApi: { bad: NOBODY, good: 'geoswap_held_status_reads 0' },
  GeoswapNoWorker: {
    bad: 'geoswap_lanes_held{instance="a"} 0\ngeoswap_lanes_held{instance="b"} 0',
    good: 'geoswap_lanes_held{instance="a"} 0\ngeoswap_lanes_held{instance="b"} 4',
  },
  GeoswapChainDown: { bad: 'geoswap_chain_live{chain="base"} 0', good: 'geoswap_chain_live{chain="base"} 1' },
  GeoswapGasLow: {
    bad: 'geoswap_gas_low{chain="base",address="0x1"} 0\ngeoswap_gas_low{chain="base",address="0x2"} 1',
    good: 'geoswap_gas_low{chain="base",address="0x1"} 0',
  },
  GeoswapGasFloatLow: {
    bad: 'geoswap_gas_float_topups_left{chain="base"} 2',
    good: 'geoswap_gas_float_topups_left{chain="base"} 30',
  },
  GeoswapSwapStuck: {
    bad: 'geoswap_oldest_swap_seconds{state="accepted"} 1300',
    good: 'geoswap_oldest_swap_seconds{state="locked"} 1300\ngeoswap_oldest_swap_seconds{state="settled"} 3700',
  },
  GeoswapSwapSlow: {
    bad: 'geoswap_oldest_swap_seconds{state="locking"} 61',
    good: 'geoswap_oldest_swap_seconds{state="delivering"} 60\ngeoswap_oldest_swap_seconds{state="locked"} 3600',
  },
  GeoswapRefundBlocked: {
    bad: 'geoswap_swaps{state="refundBlocked"} 1',
    good: 'geoswap_swaps{state="refunding"} 1',
  },
  GeoswapTermsUnsigned: {
    bad: 'geoswap_unsigned_swaps 1',
    good: 'geoswap_unsigned_swaps 0',
  },
  GeoswapQuarantine: { bad: 'geoswap_quarantined 1', good: 'geoswap_quarantined 0' },
  GeoswapTokenClosed: {
    bad: 'geoswap_token_closed{chain="alpha",token="0x1"} 1',
    good: 'geoswap_token_closed{chain="alpha",token="0x1"} 0',
  },
  GeoswapGasWasted: {
    bad: 'geoswap_wasted_gas_usd{chain="alpha"} 20.5',
    good: 'geoswap_wasted_gas_usd{chain="alpha"} 20',
  },
  GeoswapInputLost: {
    bad: 'geoswap_lost_inputs_usd{chain="alpha"} 0.01',
    good: 'geoswap_lost_inputs_usd{chain="alpha"} 0',
  },
  GeoswapClaimsLate: {
    bad: 'geoswap_claim_margin_used_ratio 0.51',
    good: 'geoswap_claim_margin_used_ratio 0.2',
  },
  GeoswapAttesterSilent: {
    bad: 'geoswap_attester_idle_seconds 61',
    good: 'geoswap_attester_idle_seconds 1.2',
  },
  GeoswapSignerAway: {
    bad: 'geoswap_signer_up{signer="a:9000"} 1\ngeoswap_signer_up{signer="b:9000"} 0',
    good: 'geoswap_signer_up{signer="a:9000"} 1',
  },
  GeoswapAttestationRefused: {
    before: 'geoswap_attestations_refused_total 3',
    bad: 'geoswap_attestations_refused_total 4',
    good: 'geoswap_attestations_refused_total 3',
  },
  GeoswapAttestersChange: {
    bad: 'geoswap_attester_change_pending{chain="alpha"} 1',
    good: 'geoswap_attester_change_pending{chain="alpha"} 0',
  },
  GeoswapSignatureRejected: {
    before: 'geoswap_signatures_rejected_total{signer="0x1"} 3',
    bad: 'geoswap_signatures_rejected_total{signer="0x1"} 4',
    good: 'geoswap_signatures_rejected_total{signer="0x1"} 3',
  },
  GeoswapPriceSourceLost: {
    bad: 'geoswap_price_available{asset="ETH"} 1\ngeoswap_price_available{asset="USDC"} 0',
    good: 'geoswap_price_available{asset="USDC"} 1',
  },
  GeoswapInventoryLow: {
    bad: 'geoswap_inventory_used_ratio{chain="1",token="0x1"} 0.9',
    good: 'geoswap_inventory_used_ratio{chain="1",token="0x1"} 0.2',
  },
  GeoswapInventoryRunsOut: {
    bad: 'geoswap_inventory_days_left{chain="1",token="0x1"} 0.02',
    good: 'geoswap_inventory_days_left{chain="1",token="0x1"} 1',
  },
  GeoswapDrift: {
    bad: 'geoswap_quote_stops{why="drift",chain="1",asset="ETH"} 1',
    good: 'geoswap_quote_stops{why="operator",chain="1",asset="ETH"} 1',
  },
  GeoswapFinalityStalled: {
    bad: 'geoswap_chain_finality_used_ratio{chain="base"} 3.01',
    good: 'geoswap_chain_finality_used_ratio{chain="base"} 3',
  },
  GeoswapFinalitySlow: {
    bad: 'geoswap_chain_finality_used_ratio{chain="base"} 1.2',
    good: 'geoswap_chain_finality_used_ratio{chain="base"} 0.5',
  },
  GeoswapUnclaimedHigh: {
    bad: 'geoswap_unclaimed_used_ratio{chain="alpha"} 0.9',
    good: 'geoswap_unclaimed_used_ratio{chain="alpha"} 0.2',
  },
  GeoswapBooksLate: {
    bad: 'geoswap_ledger_age_seconds{chain="1"} 1000',
    good: 'geoswap_ledger_age_seconds{chain="1"} 4',
  },
  GeoswapManyRefunds: {
    bad: `${refunded('NO_LIQUIDITY', 15)}\n${refunded('PRICE_MOVED', 9)}`,
    good: `geoswap_swaps_ended{status="settled",reason=""} 500\n${refunded('PRICE_MOVED', 19)}`,
  },
  GeoswapErrors: {
    before: answered(503, 5),
    bad: answered(503, 50),
    good: `${answered(503, 6)}\n${answered(200, 999)}`,
  },
  GeoswapFaults: {
    before: `${faults('lane', 10)}\n${faults('node', 10)}\n${faults('behind', 10)}`,
    bad: faults('lane', 100),
    good: `${faults('lane', 12)}\n${faults('node', 200)}\n${faults('behind', 9_000)}`,
  },
  GeoswapDiskFull: {
    bad: `${disk('avail', '/', 9)}\n${disk('size', '/', 100)}`,
    good: `${disk('avail', '/', 11)}\n${disk('size', '/', 100)}
${disk('avail', '/boot', 0)}\n${disk('size', '/boot', 1)}
geoswap_database_full 0`,
  },
  GeoswapCopyLate: {
    bad: 'geoswap_wal_archive_age_seconds 901',
    good: 'geoswap_wal_archive_age_seconds 61\npg_stat_replication_pg_wal_lsn_diff{slot_name="a"} 16777216',
  },
  GeoswapCertificateEnds: {
    bad: `probe_ssl_earliest_cert_expiry{instance="a"} ${inDays(13)}`,
    good: `probe_ssl_earliest_cert_expiry{instance="a"} ${inDays(15)}`,
  },
  GeoswapSettledLate: { before: settled(0, 0), bad: settled(6, 19), good: settled(2, 2) },
  GeoswapQuotesFail: { before: quoted(0, 0), bad: quoted(31, 1_000), good: quoted(29, 1_000) },
  GeoswapWebhooksFail: {
    bad: 'geoswap_webhook_endpoints{state="disabled"} 1',
    good: 'geoswap_webhook_endpoints{state="active"} 7\ngeoswap_webhook_endpoints{state="failing"} 0',
  },
}

/** The same samples from two processes, with a label for each. */
const fromTwo = (text: string) =>
  ['a', 'b']
    .flatMap((instance) =>
      text.split('\n').map((line) => line.replace(/^(\w+)(?:\{(.*)\})? /, `$1{process="${instance}",$2} `)),
    )
    .join('\n')

describe('every alarm', () => {
  test.each(rules.map(({ alert, expr }) => [alert, expr]))(
    '%s fires on bad samples and not on good ones',
    (alert, expr) => {
      const { bad, good, before } = cases[alert] ?? { bad: '', good: '' }

      expect(fires(expr, bad, before)).toBe(true)
      expect(fires(expr, good, before)).toBe(false)
    },
  )

  test.each(rules.map(({ alert, expr }) => [alert, expr]))(
    '%s fires alike for one process and for two with the same samples',
    (alert, expr) => {
      const { bad, good, before = '' } = cases[alert] ?? { bad: '', good: '' }

      expect(fires(expr, fromTwo(bad), fromTwo(before))).toBe(true)
      expect(fires(expr, fromTwo(good), fromTwo(before))).toBe(false)
    },
  )

  test('processes that are gone raise alarms by absence, and no other alarm fires', () => {
    const firing = rules.filter(({ expr }) => fires(expr, NOBODY, NOBODY)).map(({ alert }) => alert)

    expect(firing).toEqual(['GeoswapNoApi', 'GeoswapNoWorker', 'GeoswapAttesterSilent'])
  })

  test.each([
    ['GeoswapQuotesFail', quoted(0, 0), quoted(80, 1_000)],
    ['GeoswapSettledLate', settled(0, 0), settled(40, 100)],
  ])('%s is over when the short window is well again', (name, none, bad) => {
    const { expr = '' } = rules.find(({ alert }) => alert === name) ?? {}
    const over = { '1h': none, '6h': none, '5m': bad, '30m': bad }

    expect(fires(expr, bad, { ...over, '5m': none })).toBe(true)
    expect(fires(expr, bad, over)).toBe(false)
  })

  test.each([
    ['GeoswapFaults', faults('node', 10), faults('node', 600)],
    ['GeoswapDiskFull', '', 'geoswap_database_full 1'],
    ['GeoswapCopyLate', '', 'pg_stat_replication_pg_wal_lsn_diff{slot_name="a"} 300000000'],
  ])('%s has a second cause', (name, before, bad) => {
    const { expr = '' } = rules.find(({ alert }) => alert === name) ?? {}

    expect(fires(expr, bad, before)).toBe(true)
  })

  test('does not fire for a swap that waits for the finality of any chain of the presets', () => {
    const folder = 'packages/service/presets'
    const waits = readdirSync(join(ROOT, folder)).map((file) => {
      const { finality, blockMs } = JSON.parse(read(join(folder, file)))
      return (finality.hard * blockMs) / 1_000
    })
    const longest = Math.max(...waits) + defaultDeadlines.fillSeconds
    const firing = rules.filter(({ expr }) =>
      fires(
        expr,
        `geoswap_held_status_reads 0\ngeoswap_lanes_held 1\ngeoswap_attester_idle_seconds 0
geoswap_oldest_swap_seconds{state="refunding"} ${longest}`,
      ),
    )

    expect(firing).toEqual([])
  })

  test('uses metrics that the service has', () => {
    const named = rules.flatMap(({ expr }) => [...expr.matchAll(/geoswap_\w+/g)].map(([name]) => name))

    expect(named.filter((name) => !metrics.has(name.replace(/_count$/, '')))).toEqual([])
  })

  test('links the page of the runbook that has its name', () => {
    for (const { alert, annotations } of rules)
      expect(annotations.runbook_url).toBe(`docs/operations/runbook/${alert}.md`)
  })
})

describe('the runbook', () => {
  const pages = readdirSync(join(ROOT, 'docs/operations/runbook')).map((file) => file.replace(/\.md$/, ''))

  test('has one page for each alarm, and no other', () => {
    expect(pages.sort()).toEqual(rules.map(({ alert }) => alert).sort())
  })

  test.each(pages)('%s says what you see, why, what to do and when it is over', (page) => {
    const text = read(`docs/operations/runbook/${page}.md`)
    const headings = [...text.matchAll(/^#{1,2} (.+)$/gm)].map(([, title]) => title)

    expect(headings.slice(0, 5)).toEqual([page, 'You see', 'Why', 'Do', 'It is over when'])
  })
})

test('only metrics of a single process are summed over processes', () => {
  const panels: { targets: { expr: string }[] }[] = JSON.parse(read('deploy/grafana/dashboard.json')).panels
  const exprs = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
  const summed = exprs.flatMap((expr) =>
    [...expr.matchAll(/sum(?: by \([^)]*\))?\s*\((geoswap_\w+)/g)].map(([, name]) => name),
  )

  expect(summed).toEqual(['geoswap_lanes_held', 'geoswap_node_budget_used_ratio'])
})

test('the dashboard shows metrics that the service has', () => {
  const named = [...read('deploy/grafana/dashboard.json').matchAll(/geoswap_\w+/g)].map(([name]) => name)

  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((name) => !metrics.has(name.replace(/_(count|bucket)$/, '')))).toEqual([])
})

test('every metric is described in docs/operations/metrics.md', () => {
  const manual = read('docs/operations/metrics.md')

  expect([...metrics].filter((name) => !manual.includes(`\`${name}`))).toEqual([])
})
