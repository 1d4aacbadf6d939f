import { endpoints, type StatusReply } from '@geoswap/wire'
import { afterEach, expect, test, vi } from 'vitest'
import type { SwapEvents } from '../../store/events.ts'
import { createConnectionSlots } from './connection-slots.ts'
import { createStatusStreams, type StreamRequest } from './streams.ts'

afterEach(() => void vi.useRealTimers())

const ended: StatusReply = endpoints.status.example.reply
const pending: StatusReply = { ...ended, status: 'pending', substatus: 'locking' }

type Key = { accountId: string; swapId: string; after: number }

/** An event log in memory with the guarantees of the stored one. */
function createWorld({ maxHeldPerAccount = 10, heartbeatMs = 1e9, sweepMs = 10 } = {}) {
  const swaps = new Map<string, StatusReply[]>()
  const readEvents = vi.fn(async (keys: readonly Key[]) =>
    keys.map(({ accountId, swapId, after }): SwapEvents | undefined => {
      const log = swaps.get(swapId)
      if (!log || accountId !== 'acc_1') return undefined
      const isOver = log.at(-1)?.status !== 'pending'
      const from = isOver ? Math.min(after, log.length - 1) : after
      const events = log.map((status, index) => ({ seq: index + 1, status })).filter(({ seq }) => seq > from)
      return { lastSeq: log.length, ended: isOver, events }
    }),
  )
  const findMoved = vi.fn(async (known: readonly { swapId: string; seq: number }[]) =>
    known.filter(({ swapId, seq }) => (swaps.get(swapId)?.length ?? 0) > seq).map(({ swapId }) => swapId),
  )
  const slots = createConnectionSlots({ maxHeldPerAccount })
  const streams = createStatusStreams({
    readEvents,
    findMoved,
    slots,
    sweepMs,
    heartbeatMs,
    onError: vi.fn(),
  })
  const add = (swapId: string, ...statuses: StatusReply[]) =>
    swaps.set(swapId, [...(swaps.get(swapId) ?? []), ...statuses])

  async function open(swapId: string, request: Partial<StreamRequest> = {}) {
    const start = await streams.open({
      accountId: 'acc_1',
      swapId,
      after: 0,
      isAllowed: () => true,
      ...request,
    })
    const written: string[] = []
    const end = vi.fn()
    const leave = start({ write: (text) => void written.push(text), end })
    const ids = () => [...written.join('').matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
    return { written, end, leave, ids }
  }
  return { add, open, streams, slots, readEvents, findMoved }
}

test('a stream sends past events, then each change, and ends after the last', async () => {
  const { add, open, slots } = createWorld()
  add('s1', pending, { ...pending, substatus: 'locked' })
  const stream = await open('s1')
  expect(stream.ids()).toEqual([1, 2])

  add('s1', { ...pending, substatus: 'delivering' })
  await vi.waitFor(() => expect(stream.ids()).toEqual([1, 2, 3]))
  expect(stream.end).not.toHaveBeenCalled()
  add('s1', ended)

  await vi.waitFor(() => expect(stream.end).toHaveBeenCalledOnce())
  expect(stream.ids()).toEqual([1, 2, 3, 4])
  const last = stream.written.at(-1)?.split('data: ')[1] ?? ''
  expect(JSON.parse(last)).toEqual(ended)
  expect(slots.count()).toBe(0)
})

test("a stream resumes after its caller's last event", async () => {
  const { add, open } = createWorld()
  add('s1', pending, pending, pending)
  const resumed = await open('s1', { after: 2 })
  const ahead = await open('s1', { after: 99 })
  expect([resumed.ids(), ahead.ids()]).toEqual([[3], []])

  add('s1', ended)

  await vi.waitFor(() => expect(ahead.end).toHaveBeenCalled())
  expect([resumed.ids(), ahead.ids()]).toEqual([[3, 4], [4]])
})

test('a stream of an ended swap sends the end, whatever its caller has, and needs no slot', async () => {
  const { add, open, slots } = createWorld({ maxHeldPerAccount: 0 })
  add('s1', pending, ended)

  const streams = [await open('s1'), await open('s1', { after: 1 }), await open('s1', { after: 2 })]

  expect(streams.map(({ ids }) => ids())).toEqual([[1, 2], [2], [2]])
  for (const { end } of streams) expect(end).toHaveBeenCalledOnce()
  expect(slots.count()).toBe(0)
})

test('a stream that starts further back during a reading misses nothing', async () => {
  const { add, open, streams, readEvents } = createWorld({ sweepMs: 1e9 })
  const key = { accountId: 'acc_1', swapId: 's1' }
  add('s1', pending)
  const [early] = await readEvents([{ ...key, after: 0 }])
  add('s1', pending)
  const other = await open('s1')
  add('s1', pending)
  const later = await readEvents([{ ...key, after: 2 }])
  let finishRead = () => {}
  readEvents.mockClear()
  readEvents.mockImplementationOnce(
    () =>
      new Promise((resolve) => {
        finishRead = () => resolve(later)
      }),
  )
  streams.swapEnded('s1')
  await vi.waitFor(() => expect(readEvents).toHaveBeenCalledOnce())

  readEvents.mockResolvedValueOnce([early])
  const slow = await open('s1')
  finishRead()
  await vi.waitFor(() => expect(other.ids()).toEqual([1, 2, 3]))
  expect(slow.ids()).toEqual([1])
  add('s1', ended)
  await vi.waitFor(() => {
    streams.swapEnded('s1')
    expect(slow.end).toHaveBeenCalled()
  })

  expect([slow.ids(), other.ids()]).toEqual([
    [1, 2, 3, 4],
    [1, 2, 3, 4],
  ])
})

test('streams share one reading, and an ended swap is sent without waiting for the next', async () => {
  const { add, open, streams, findMoved, readEvents } = createWorld({ sweepMs: 1e9 })
  const opened = await Promise.all(
    Array.from({ length: 8 }, (_, index) => {
      add(`s${index % 4}`, pending)
      return open(`s${index % 4}`)
    }),
  )
  for (const index of [0, 1, 2, 3]) add(`s${index}`, ended)
  readEvents.mockClear()

  streams.swapEnded('unwatched')
  expect(findMoved).not.toHaveBeenCalled()
  streams.swapEnded('s1')

  await vi.waitFor(() => {
    for (const { end } of opened) expect(end).toHaveBeenCalledOnce()
  })
  expect([findMoved.mock.calls.length, readEvents.mock.calls.length]).toEqual([1, 1])
})

test('404 SWAP_NOT_FOUND for an unknown swap, one of another account, or an id that is none and not read', async () => {
  const { add, open, readEvents } = createWorld()
  add('s1', pending)

  await expect(open('s1', { accountId: 'acc_2' })).rejects.toMatchObject({ code: 'SWAP_NOT_FOUND' })
  for (const id of ['s2', '', '\u0000', "'", 'x'.repeat(100)])
    await expect(open(id)).rejects.toMatchObject({ code: 'SWAP_NOT_FOUND' })
  expect(readEvents.mock.calls.flatMap(([keys]) => keys.map(({ swapId }) => swapId))).toEqual(['s1', 's2'])
})

test('429 RATE_LIMITED when the account is at its limit, until one stream ends', async () => {
  const { add, open, slots } = createWorld({ maxHeldPerAccount: 2 })
  add('s1', pending)
  const [first] = [await open('s1'), await open('s1')]

  await expect(open('s1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  first.leave()
  first.leave()

  expect(slots.count()).toBe(1)
  await open('s1')
})

test('a comment keeps an idle stream alive', async () => {
  const { add, open } = createWorld({ heartbeatMs: 10 })
  add('s1', pending)
  const { written } = await open('s1')

  await vi.waitFor(() => expect(written.slice(2, 4)).toEqual([':\n\n', ':\n\n']))
})

test('a stream ends when its key is revoked', async () => {
  const { add, open, slots } = createWorld()
  let isRevoked = false
  add('s1', pending)
  const { end } = await open('s1', { isAllowed: () => !isRevoked })

  isRevoked = true

  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce())
  expect(slots.count()).toBe(0)
})

test('after closing no timer is left', () => {
  vi.useFakeTimers()
  const { streams } = createWorld()
  expect(vi.getTimerCount()).toBe(2)
  streams.close()

  expect(vi.getTimerCount()).toBe(0)
})

test('closing ends every stream, and one that is just opening after its past events', async () => {
  const { add, open, streams, slots } = createWorld()
  add('s1', pending)
  const before = await open('s1')
  streams.close()
  const after = await open('s1')

  expect(before.end).toHaveBeenCalledOnce()
  expect([after.ids(), after.end.mock.calls.length]).toEqual([[1], 1])
  expect(slots.count()).toBe(0)
})
