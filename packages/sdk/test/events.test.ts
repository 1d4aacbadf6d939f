import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EventsOptions, SwapEvent } from '../src/index.ts'
import { type Fault, refuse, type Stream } from './service-double.ts'
import { causeOf, repeated, retry, startTrader, type Trader } from './trader.ts'

const PATH = '/swap/status/events'

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => trader.service.close())

const eventText = (id: number, status = 'pending') =>
  `id: ${id}\ndata: ${JSON.stringify({ swapId: 'swp_1', status, substatus: 'locking' })}\n\n`
const streams =
  (then: Stream['then'], ...texts: string[]): Fault =>
  () => ({ texts, then })

async function collect(options: EventsOptions = {}): Promise<string[]> {
  const seen: string[] = []
  for await (const { id, swap } of trader.client.events('swp_1', options)) seen.push(`${id} ${swap.status}`)
  return seen
}
const resumedFrom = () => trader.service.requestsTo(PATH).map(({ headers }) => headers['last-event-id'])

describe('events', () => {
  test('arrive one by one until the swap ends, however the stream is cut into chunks', async () => {
    const text = `retry: 1000\n\n${eventText(1)}:\n\n${eventText(2)}${eventText(3, 'settled')}`
    const pieces = text.match(/[\s\S]{1,7}/g) ?? []
    trader.service.next(PATH, streams('hang', ...pieces))

    expect(await collect()).toEqual(['1 pending', '2 pending', '3 settled'])
    expect(trader.service.requestsTo(PATH)).toHaveLength(1)
  })

  test('continue where a stream broke, ended early or was refused temporarily', async () => {
    trader.service.next(
      PATH,
      streams('break', eventText(1)),
      refuse('SERVICE_UNAVAILABLE'),
      streams('end', eventText(2)),
      streams('end'),
      streams('end', eventText(3, 'refunded')),
    )

    expect(await collect()).toEqual(['1 pending', '2 pending', '3 refunded'])
    expect(resumedFrom()).toEqual([undefined, '1', '1', '2', '2'])
  })

  test('begin after lastEventId', async () => {
    trader.service.next(PATH, streams('end', eventText(5, 'failed')))

    expect(await collect({ lastEventId: '4' })).toEqual(['5 failed'])
    expect(resumedFrom()).toEqual(['4'])
  })

  test('of an unknown swap are 404 SWAP_NOT_FOUND, at once', async () => {
    trader.service.next(PATH, refuse('SWAP_NOT_FOUND'))

    expect(await causeOf(collect())).toMatchObject({ code: 'SWAP_NOT_FOUND', status: 404 })
    expect(trader.service.requestsTo(PATH)).toHaveLength(1)
  })

  test('fail after the time limit if the stream is missing or malformed', async () => {
    const impatient = trader.clientWith({ retry: { ...retry, forMs: 50 } })
    const first = () => impatient.events('swp_1').next()

    trader.service.next(PATH, ...repeated(50, streams('end')))
    expect(await causeOf(first())).toMatchObject({ code: 'UNEXPECTED_REPLY' })
    trader.service.next(PATH, ...repeated(50, () => ({ status: 200, body: '<html>' })))
    expect(await causeOf(first())).toMatchObject({ code: 'UNEXPECTED_REPLY' })
  })

  test('are requested again when a stream falls silent', async () => {
    const client = trader.clientWith({ timeoutMs: -14_900 })
    const oneAtATime: Fault = (act) =>
      streams('hang', resumedFrom().at(-1) === '1' ? eventText(2, 'settled') : eventText(1))(act)
    trader.service.next(PATH, ...repeated(50, oneAtATime))

    const seen: SwapEvent[] = []
    for await (const event of client.events('swp_1')) seen.push(event)

    expect(seen.map(({ id }) => id)).toEqual(['1', '2'])
  })

  test('end with the reason of the signal', async () => {
    const controller = new AbortController()
    trader.service.next(PATH, streams('hang', eventText(1)))
    const events = trader.client.events('swp_1', { signal: controller.signal })
    await events.next()

    controller.abort(new Error('enough'))

    await expect(events.next()).rejects.toThrow('enough')
  })

  test('close the connection when the consumer stops', async () => {
    let closed = false
    const spy: typeof fetch = async (url, init) => {
      init?.signal?.addEventListener('abort', () => {
        closed = true
      })
      return fetch(url, init)
    }
    trader.service.next(PATH, streams('hang', eventText(1)))

    for await (const _event of trader.clientWith({ fetch: spy }).events('swp_1')) break

    expect(closed).toBe(true)
  })
})

test('history sends only the given parameters', async () => {
  const query = { limit: 5, wallet: '0x 1', status: 'settled', from: '2026-01-02T03:04:05Z' } as const

  const { nextCursor } = await trader.client.history({ ...query, to: undefined } as typeof query)
  await trader.client.history()

  expect(Object.fromEntries(new URLSearchParams(nextCursor))).toEqual({ ...query, limit: '5' })
  expect(trader.service.requests.at(-1)?.url.search).toBe('')
})
