import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createWorld, outcomeOf, submitSwap, until } from '../world.ts'

const local = inject('local')
const home = inject('home')
const collectorUrl = inject('collectorUrl')
const world = createWorld(local)
const { alpha, beta } = world

const logs = () =>
  readdirSync(join(home, 'logs'))
    .map((name) => readFileSync(join(home, 'logs', name), 'utf8'))
    .join('\n')

/** The secrets that commands on this machine may read. Each is long enough not to occur by chance. */
function secretsOfNetwork(): string[] {
  const file: Record<string, unknown> = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8'))
  const words = Object.values(file).flatMap((value) => (typeof value === 'string' ? value : []))
  return words
    .flatMap((word) => word.split(/[,:/@]/))
    .map((part) => part.replace(/^0x/, ''))
    .filter((part) => part.length >= 24)
}

const get = async (url: string) => (await fetch(url)).text()

type Post = { resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[] }
type Span = { traceId: string; name: string; attributes: Attribute[] }
type Attribute = { key: string; value: { stringValue?: string } }

/** The names of all spans in a swap's trace, each after its role. */
function spansOf(posts: string, swapId: string): string[] {
  const parsed = posts.split('\n').flatMap((line): Post[] => (line ? [JSON.parse(line)] : []))
  const spans = parsed.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const role = resource.attributes.find(({ key }) => key === 'service.instance.role')?.value.stringValue
      return scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, role })))
    }),
  )
  const isOfSwap = ({ key, value }: Attribute) => key === 'geoswap.swap_id' && value.stringValue === swapId
  const root = spans.find(({ name, attributes }) => name === 'swap' && attributes.some(isOfSwap))
  return spans.flatMap(({ traceId, role, name }) => (traceId === root?.traceId ? `${role}: ${name}` : []))
}

async function followedLines(swapId: string): Promise<string[]> {
  return until(async () => {
    const found = logs()
      .split('\n')
      .filter((line) => line.includes(swapId))
    return (
      ['api', 'worker', 'attester'].every((name) =>
        found.some((line) => line.includes(`"name":"${name}"`)),
      ) && found
    )
  })
}

test('a swap can be followed by its id through logs and traces, and no secret is in them or in metrics', async () => {
  const apiKey = await createOperator(inject('databaseUrl')).createKey()
  const api = createCheckedClient({ ...local, apiKey })
  const wallet = await world.walletWith(alpha, 'USDC', 20_000_000n)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10_000_000n }
  const { swapId, quote, submission } = await submitSwap({ api }, wallet, order)
  await outcomeOf({ api }, swapId)
  await api.submit({ ...submission, signature: `${submission.signature.slice(0, -2)}00` })

  const lines = await followedLines(swapId)
  const traces = await until(async () => {
    const posts = await get(collectorUrl)
    return spansOf(posts, swapId).includes('worker: swap') && posts
  })
  const metrics = await Promise.all([`${local.apiUrl}/metrics`, ...local.metricsUrls].map(get))
  const secrets = [
    ...secretsOfNetwork(),
    ...[apiKey.split('_')[3] ?? apiKey, quote.geoQuoteToken, submission.geoOpToken, submission.signature],
  ]

  expect(lines.length).toBeGreaterThan(3)
  const told = ['api: POST /swap/submit', 'worker: accepted', 'worker: transaction lock', 'worker: delivered']
  expect(spansOf(traces, swapId)).toEqual(expect.arrayContaining(told))
  expect(metrics.filter((text) => text.includes('process_cpu_seconds_total'))).toHaveLength(3)
  expect(secrets.length).toBeGreaterThan(5)
  const shown = [logs(), traces, ...metrics].join('\n')
  expect(secrets.filter((secret) => shown.includes(secret))).toEqual([])
})
