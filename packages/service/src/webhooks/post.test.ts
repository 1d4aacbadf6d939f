import type { LookupAddress } from 'node:dns'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Receiver, startReceiver } from '../../test/support/webhook-receiver.ts'
import { createPost } from './post.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.stop())

const never = new AbortController().signal
const message = (url: string, signal = never) => ({ url, headers: { a: 'b' }, body: '{}', signal })

/** A resolver that answers every name with these addresses, one list per query. */
function resolverOf(...answers: string[][]) {
  const asked = vi.fn()
  const resolve: NonNullable<Parameters<typeof createPost>[0]['resolve']> = (
    hostname,
    _options,
    callback,
  ) => {
    asked(hostname)
    const addresses = answers[Math.min(asked.mock.calls.length, answers.length) - 1] ?? []
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return { asked, resolve }
}

describe('if private addresses are allowed', () => {
  const post = createPost({ allowPrivate: true })

  test('body and headers arrive, and the result has status and Retry-After', async () => {
    receiver.answer({ status: 503, headers: { 'retry-after': '7' } })

    const answer = await post(message(receiver.url))

    expect(answer).toEqual({ kind: 'answered', status: 503, retryAfterMs: 7_000 })
    expect(receiver.received.at(-1)).toMatchObject({ body: '{}', path: '/hook', headers: { a: 'b' } })
  })

  test('a redirect is an answer, and is not followed', async () => {
    receiver.received.length = 0
    receiver.answer({ status: 307, headers: { location: `http://127.0.0.1:${receiver.port}/elsewhere` } })

    expect(await post(message(receiver.url))).toEqual({ kind: 'answered', status: 307 })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook'])
  })

  test('a timeout, a closed connection and an unreachable host are failures', async () => {
    receiver.answer('hang')
    const impatient = createPost({ allowPrivate: true, timeoutMs: 200 })
    expect(await impatient(message(receiver.url))).toEqual({
      kind: 'failed',
      reason: 'it did not answer within 0.2 s',
    })
    receiver.answer('drop')
    expect(await post(message(receiver.url))).toEqual({
      kind: 'failed',
      reason: 'it cannot be reached (ECONNRESET)',
    })
    expect(await post(message('http://127.0.0.1:1/'))).toEqual({
      kind: 'failed',
      reason: 'it cannot be reached (ECONNREFUSED)',
    })
  })

  test('an attempt ends with its signal', async () => {
    receiver.answer('hang')
    const stopping = new AbortController()
    const answer = createPost({ allowPrivate: true })(message(receiver.url, stopping.signal))
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0))
    stopping.abort()

    expect(await answer).toMatchObject({ kind: 'failed' })
  })

  test('a name is resolved once, and the connection uses that address', async () => {
    receiver.answer(204)
    const { asked, resolve } = resolverOf(['127.0.0.1'], ['192.0.2.1'])

    const answer = await createPost({ allowPrivate: true, resolve })(
      message(`http://hooks.example:${receiver.port}/`),
    )

    expect(answer).toEqual({ kind: 'answered', status: 204 })
    expect(asked.mock.calls).toEqual([['hooks.example']])
    expect(receiver.received.at(-1)?.headers.host).toBe(`hooks.example:${receiver.port}`)
  })
})

describe('if private addresses are not allowed', () => {
  const notPublic = { kind: 'failed', reason: 'its address is not public' }

  test.each([
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '169.254.169.254',
    '10.0.0.1',
    '0',
  ])('https://%s is not called', async (host) => {
    receiver.received.length = 0

    expect(await createPost({ allowPrivate: false })(message(`https://${host}:${receiver.port}/`))).toEqual(
      notPublic,
    )
    expect(receiver.received).toEqual([])
  })

  test('a name is not called if any of its addresses is private, whatever it resolved to before', async () => {
    receiver.received.length = 0
    const { resolve, asked } = resolverOf(['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['8.8.8.8', 'fd00::1'])
    const post = createPost({ allowPrivate: false, resolve })

    for (const _ of [1, 2, 3]) {
      expect(await post(message(`https://hooks.example:${receiver.port}/`))).toEqual(notPublic)
    }
    expect(asked).toHaveBeenCalledTimes(3)
    expect(receiver.received).toEqual([])
  })

  test('plain HTTP is refused', async () => {
    expect(await createPost({ allowPrivate: false })(message('http://8.8.8.8/'))).toEqual({
      kind: 'failed',
      reason: 'its URL is not https',
    })
  })
})
