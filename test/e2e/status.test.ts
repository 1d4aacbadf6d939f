import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf, refusedFields } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { patience } from '../patience.ts'
import { createWorld, prepare, submitSwap } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)
const order = { from: alpha, sell: 'ETH', to: beta, buy: 'USDC', amount: 10n ** 17n }

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
})

const submit = async () => submitSwap({ api }, await delegatedWallet(alpha), order)

async function timed<T>(call: () => Promise<T>): Promise<{ reply: T; ms: number }> {
  const startedAt = performance.now()
  const reply = await call()
  return { reply, ms: performance.now() - startedAt }
}

describe('while a swap is pending', () => {
  test('?wait=0 answers at once, ?wait=1 after a second, with everything known so far', async () => {
    const { submission, quote } = await prepare({ api }, await delegatedWallet(alpha), order)
    await alpha.halt()
    try {
      const { swapId } = (await api.submit(submission)).body

      const atOnce = await timed(() => api.status(swapId, 0))
      const held = await timed(() => api.status(swapId, 1))

      expect(atOnce.ms).toBeLessThan(held.ms)
      expect(held.ms).toBeGreaterThanOrEqual(990)
      expect(held.ms).toBeLessThan(10_000 * patience)
      expect(held.reply.body).toMatchObject({
        ...{ swapId, status: 'pending', originChain: alpha.chainId, destinationChain: beta.chainId },
        amounts: { input: quote.input, quotedOutput: quote.output, minOutput: quote.minOutput },
      })
      expect(['accepted', 'locking']).toContain(held.reply.body.substatus)
      expect(held.reply.body).not.toHaveProperty('deliveryTxHash')
      expect(held.reply.body.timeline[0]?.stage).toBe('accepted')
    } finally {
      await alpha.resume()
    }
  })

  test('a read that the caller aborts harms nobody', async () => {
    const { swapId } = await submit()
    const hangUp = AbortSignal.timeout(50)
    const headers = { 'x-api-key': api.apiKey }
    await fetch(`${local.apiUrl}/swap/status/${swapId}`, { headers, signal: hangUp }).catch(() => undefined)

    expect(refusalOf(await api.status(swapId, 0))).toBe('200 OK')
  })
})

describe('when a swap ends', () => {
  test('every held read returns early, with the settled state, and later ones at once with the same', async () => {
    const { swapId, quote } = await submit()

    const reads = await Promise.all(Array.from({ length: 20 }, () => timed(() => api.status(swapId))))
    const later = await timed(() => api.status(swapId))

    const bodies = reads.map(({ reply }) => reply.body)
    expect(bodies).toEqual(bodies.map(() => bodies[0]))
    expect(Math.max(...reads.map(({ ms }) => ms))).toBeLessThan(14_000 * patience)
    expect(later.ms).toBeLessThan(5_000 * patience)
    expect(later.reply.body).toMatchObject({
      ...{ swapId, status: 'settled', substatus: 'delivered' },
      originTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      deliveryTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amounts: { input: quote.input, delivered: quote.output },
    })
    expect(later.reply.body).not.toHaveProperty('failure')
    expect(later.reply.body).not.toHaveProperty('refund')
  })

  test('a held read is answered when the end is stored, not at the end of its window', async () => {
    const { swapId } = await submit()

    const { body } = await api.status(swapId)
    const answeredAt = Date.now()

    expect(body.status).toBe('settled')
    const settled = body.timeline.find(({ stage }) => stage === 'delivered') ?? body.timeline.at(-1)
    expect(answeredAt - new Date(settled?.at ?? 0).getTime()).toBeLessThan(3_000 * patience)
  })

  test('the timeline has each stage once, in order, with its chain and transaction', async () => {
    const { swapId } = await submit()

    const { body } = await api.status(swapId)

    const times = body.timeline.map(({ at }) => new Date(at).getTime())
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const stages = body.timeline.map(({ stage }) => stage)
    expect(stages[0]).toBe('accepted')
    expect(new Set(stages).size).toBe(stages.length)
    expect(body.timeline).toContainEqual(
      expect.objectContaining({ stage: 'locked', chainId: alpha.chainId, txHash: body.originTxHash }),
    )
    expect(body.timeline).toContainEqual(
      expect.objectContaining({ stage: 'delivered', chainId: beta.chainId, txHash: body.deliveryTxHash }),
    )
  })
})

describe('400 INVALID_REQUEST', () => {
  const waits = ['-1', '16', '15.1', '1e1', 'x', '', '0x1', ' 1', '1&wait=2', '%00', 'NaN']
  test.each(waits)('names wait for ?wait=%s', async (wait) => {
    const reply = await api.call<object>('GET', `/swap/status/swp_${'0'.repeat(32)}?wait=${wait}`)

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toContain('wait')
  })

  test('names an unknown parameter', async () => {
    const reply = await api.call<object>('GET', '/swap/status/swp_1?timeout=3')

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual(['timeout'])
  })
})
