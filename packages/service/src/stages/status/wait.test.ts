import { endpoints, type StatusReply } from '@geoswap/wire'
import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../errors.ts'
import { type ConnectionSlots, createConnectionSlots } from './connection-slots.ts'
import { createStatusReads } from './wait.ts'

afterEach(() => void vi.useRealTimers())

const ended: StatusReply = endpoints.status.example.reply
const pending: StatusReply = { ...ended, status: 'pending', substatus: 'locking' }

type Swap = { accountId: string; reply: StatusReply }
type Options = { maxHeldPerAccount?: number; maxHeld?: number; slots?: ConnectionSlots; sweepMs?: number }

function createWorld(options: Options = {}) {
  const swaps = new Map<string, Swap>()
  const readStatuses = vi.fn(async (keys: readonly { accountId: string; swapId: string }[]) =>
    keys.map(({ accountId, swapId }) => {
      const swap = swaps.get(swapId)
      return swap?.accountId === accountId ? swap.reply : undefined
    }),
  )
  const findEnded = vi.fn(async (ids: readonly string[]) =>
    ids.filter((id) => swaps.get(id)?.reply.status !== 'pending'),
  )
  const { slots = createConnectionSlots(options), sweepMs = 20 } = options
  const reads = createStatusReads({ readStatuses, findEnded, sweepMs, slots, onError: vi.fn() })
  reads.setListening(true)
  const put = (swapId: string, reply: StatusReply) => {
    swaps.set(swapId, { accountId: 'acc_1', reply: { ...reply, swapId } })
  }
  // Longer than a test may take.
  const read = (swapId: string, waitMs = 600_000, accountId = 'acc_1') =>
    reads.read({ accountId, swapId, waitMs })
  const held = (count: number) => vi.waitFor(() => expect(reads.heldCount()).toBe(count), 10_000)
  return { put, read, held, reads, readStatuses, findEnded }
}

test('an ended swap is answered at once, and from memory the second time', async () => {
  const { put, read, readStatuses } = createWorld()
  put('s1', ended)

  expect(JSON.parse(await read('s1'))).toEqual({ ...ended, swapId: 's1' })
  expect(await read('s1')).toContain('settled')
  expect(readStatuses).toHaveBeenCalledTimes(1)
})

test('a pending swap is answered at once when the wait is 0', async () => {
  const { put, read } = createWorld()
  put('s1', pending)

  expect(await read('s1', 0)).toContain('pending')
})

test('a held read returns when its swap ends', async () => {
  const { put, read, held, reads } = createWorld()
  put('s1', pending)
  const answer = read('s1')
  await held(1)
  put('s1', ended)
  reads.swapEnded('s1')

  expect(await answer).toContain('settled')
  expect(reads.heldCount()).toBe(0)
})

test('a held read returns when its swap ends although the notification was lost', async () => {
  const { put, read, held } = createWorld()
  put('s1', pending)
  const answer = read('s1')
  await held(1)
  put('s1', ended)

  expect(await answer).toContain('settled')
})

test('a held read returns the latest state after its wait', async () => {
  const { put, read, held } = createWorld()
  put('s1', pending)
  const answer = read('s1', 60)
  await held(1)
  put('s1', { ...pending, substatus: 'delivering' })

  expect(await answer).toContain('delivering')
})

test('a swap that ends while its first read is under way is not missed', async () => {
  const { put, read, reads, readStatuses } = createWorld()
  put('s1', pending)
  readStatuses.mockImplementationOnce(async () => {
    put('s1', ended)
    reads.swapEnded('s1')
    return [pending]
  })

  expect(await read('s1')).toContain('settled')
})

test('a thousand readers of a thousand swaps that end together need few statements', async () => {
  const { put, read, held, reads, readStatuses } = createWorld()
  const ids = Array.from({ length: 1_000 }, (_, index) => `s${index}`)
  for (const id of ids) put(id, pending)
  const answers = ids.map((id) => read(id))
  await held(1_000)
  readStatuses.mockClear()
  for (const id of ids) {
    put(id, ended)
    reads.swapEnded(id)
  }

  expect((await Promise.all(answers)).every((json) => json.includes('settled'))).toBe(true)
  expect(readStatuses.mock.calls.length).toBeLessThanOrEqual(10)
})

test('many readers of one swap share one read', async () => {
  const { put, read, readStatuses } = createWorld()
  put('s1', pending)
  await Promise.all(Array.from({ length: 100 }, () => read('s1', 0)))

  expect(readStatuses.mock.calls.flatMap(([keys]) => keys)).toHaveLength(1)
})

test('404 SWAP_NOT_FOUND for an unknown id and for another account, ended or not, cached or not', async () => {
  const { put, read, readStatuses } = createWorld()
  put('s1', ended)
  await read('s1')
  const notFound = expect.objectContaining({ code: 'SWAP_NOT_FOUND' })

  await expect(read('s1', 0, 'acc_2')).rejects.toEqual(notFound)
  for (const id of ['nope', '', '\u0000']) await expect(read(id)).rejects.toEqual(notFound)
  const ids = readStatuses.mock.calls.flatMap(([keys]) => keys.map(({ swapId }) => swapId))
  expect(ids).toEqual(['s1', 's1', 'nope'])
})

test('429 RATE_LIMITED for one read more than an account may hold', async () => {
  const { put, read, held } = createWorld({ maxHeldPerAccount: 2 })
  put('s1', pending)
  void read('s1', 1_000)
  void read('s1', 1_000)
  await held(2)

  await expect(read('s1')).rejects.toEqual(expect.objectContaining({ code: 'RATE_LIMITED' }))
  expect(await read('s1', 0)).toContain('pending')
})

test('a caller that hangs up is no longer held', async () => {
  const { put, reads, held } = createWorld()
  put('s1', pending)
  let hangUp = () => {}
  void reads.read({
    accountId: 'acc_1',
    swapId: 's1',
    waitMs: 15_000,
    onHeld: (leave) => {
      hangUp = leave
    },
  })
  await held(1)
  hangUp()

  expect(reads.heldCount()).toBe(0)
})

test('closing answers all held reads with the latest state and holds none afterwards', async () => {
  const { put, read, held, reads } = createWorld()
  put('s1', pending)
  const answers = [read('s1'), read('s1')]
  await held(2)
  put('s1', { ...pending, substatus: 'locked' })
  await reads.close()

  for (const json of await Promise.all(answers)) expect(json).toContain('locked')
  expect(await read('s1')).toContain('pending')
})

test('after closing no timer is left', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { reads } = createWorld()
  expect(vi.getTimerCount()).toBe(1)
  await reads.close()

  expect(vi.getTimerCount()).toBe(0)
})

test('a held read is not answered by a change that does not end its swap', async () => {
  const { put, read, held, reads } = createWorld()
  put('s1', pending)
  const answer = read('s1')
  await held(1)
  reads.swapEnded('s1')
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)

  expect(reads.heldCount()).toBe(1)
  put('s1', ended)
  reads.swapEnded('s1')
  expect(await answer).toContain('settled')
})

test('closing answers with the last known state when the store is gone', async () => {
  const { put, read, held, reads, readStatuses } = createWorld()
  put('s1', pending)
  const answer = read('s1')
  await held(1)
  readStatuses.mockRejectedValue(new Error('down'))
  await reads.close()

  expect(await answer).toContain('locking')
})

test('nothing is answered from memory while notifications may be lost', async () => {
  const { put, read, reads, readStatuses } = createWorld()
  put('s1', ended)
  await read('s1')
  reads.setListening(false)
  await read('s1')
  await read('s1')

  expect(readStatuses).toHaveBeenCalledTimes(3)
})

test('an ended swap that changes is read again', async () => {
  const { put, read, reads } = createWorld()
  put('s1', ended)
  await read('s1')
  put('s1', { ...ended, deliveryTxHash: '0xagain' })
  reads.swapEnded('s1')

  expect(await read('s1')).toContain('0xagain')
})

test('a store that cannot be read fails the read, not the process', async () => {
  const { put, read, readStatuses } = createWorld()
  put('s1', ended)
  readStatuses.mockRejectedValueOnce(new Error('down'))

  await expect(read('s1')).rejects.toThrow('down')
  expect(await read('s1')).toContain('settled')
})

test.each([
  ['its swap ends', 'settled'],
  ['the process closes', 'pending'],
])('a read that waits for a slot is answered at once if %s', async (_, status) => {
  let grant = () => {}
  const asked = new Promise<void>((resolve) => {
    grant = resolve
  })
  const slots = { ...createConnectionSlots(), acquire: vi.fn(() => asked), release: vi.fn() }
  const { put, read, reads } = createWorld({ slots, sweepMs: 60_000 })
  put('s1', pending)
  const answer = read('s1')
  await vi.waitFor(() => expect(slots.acquire).toHaveBeenCalled())
  if (status === 'settled') put('s1', ended)
  if (status === 'settled') reads.swapEnded('s1')
  else await reads.close()
  grant()

  expect(await answer).toContain(status)
  expect(slots.release).toHaveBeenCalledExactlyOnceWith('acc_1')
})

test('429 RATE_LIMITED if the slot that is awaited is refused', async () => {
  const acquire = async () => {
    throw new ServiceError('RATE_LIMITED')
  }
  const { put, read } = createWorld({ slots: { ...createConnectionSlots(), acquire } })
  put('s1', pending)

  await expect(read('s1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})
