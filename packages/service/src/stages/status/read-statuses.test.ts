import { endpoints, type StatusReply } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { createStatusBatch, type SwapKey } from './read-statuses.ts'

const ended: StatusReply = endpoints.status.example.reply
const pending: StatusReply = { ...ended, status: 'pending', substatus: 'locking' }

const nextTurn = () => new Promise(setImmediate)

/** A store of swaps that are pending, or ended from the start. `finish` answers a statement that waits. */
function createWorld({ isEnded = true, waits = false } = {}) {
  const statements: string[][] = []
  const finish: (() => void)[] = []
  const answer = async (keys: readonly SwapKey[]) => {
    if (waits) await new Promise<void>((resolve) => finish.push(resolve))
    return keys.map(({ swapId }) => ({ ...(isEnded ? ended : pending), swapId }))
  }
  const batch = createStatusBatch((keys) => {
    if (keys.length === 0) throw new Error('A statement without keys')
    statements.push(keys.map(({ swapId }) => swapId))
    return answer(keys)
  })
  const read = (swapId: string) => batch.read(keyOf(swapId))
  return { batch, statements, finish, read }
}

const keyOf = (swapId: string): SwapKey => ({ accountId: 'acc', swapId })

/** All that is read within a few turns of the event loop. */
async function soon<T>(reading: Promise<T>): Promise<T | 'nothing'> {
  const late = (async () => {
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    return 'nothing' as const
  })()
  return Promise.race([reading, late])
}

test('one statement is in flight, and reads during it share the next', async () => {
  const { statements, finish, read } = createWorld({ waits: true })
  const first = read('a')
  await nextTurn()
  const later = [read('b'), read('c'), read('b')]
  await nextTurn()
  await nextTurn()
  expect(statements).toEqual([['a']])

  finish.shift()?.()
  expect(await soon(first)).toMatchObject({ terminal: true })
  await nextTurn()
  expect(statements).toEqual([['a'], ['b', 'c']])
  finish.shift()?.()
  const answers = await soon(Promise.all(later))
  expect(answers).toMatchObject([{}, {}, {}])
  expect(JSON.stringify(answers)).toMatch(/"b.*"c.*"b/s)
  const last = read('d')
  await nextTurn()
  finish.shift()?.()
  expect(await soon(last)).toMatchObject({ terminal: true })
})

test('a swap that changes while it is read is read again, not one that changed before or is remembered', async () => {
  const { batch, statements, finish, read } = createWorld({ waits: true })
  batch.useMemory(true)
  const finishNext = async () => {
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
    finish.shift()?.()
  }
  const reads = [read('a'), read('b')]
  await nextTurn()
  reads.push(read('c'))
  batch.forget('a')
  batch.forget('c')
  for (let count = 0; count < 3; count += 1) await finishNext()
  expect(await soon(Promise.all(reads))).toMatchObject([{}, {}, {}])
  expect(statements).toEqual([['a', 'b'], ['c'], ['a']])

  batch.forget('b')
  const again = Promise.all([read('a'), read('b'), read('c')])
  await finishNext()
  expect(await soon(again)).toMatchObject([{}, {}, {}])
  expect(statements.slice(3)).toEqual([['b']])
})

test('a statement reads a thousand swaps at most, and other calls have their turn between answers', async () => {
  const { statements, read } = createWorld()
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  count()
  const turns: number[] = []
  const ids = Array.from({ length: 1_001 }, (_, index) => `s${index}`)
  const answers = await Promise.all(
    ids.map((id) =>
      read(id).then((snapshot) => {
        turns.push(turn)
        return snapshot
      }),
    ),
  )
  isOver = true

  expect(statements.map(({ length }) => length)).toEqual([1_000, 1])
  expect(answers.map((snapshot) => JSON.parse(snapshot?.json ?? '').swapId)).toEqual(ids)
  // 15 slices of 64, one of 40 and one of 1.
  expect(new Set(turns).size).toBe(17)
})

test('only an ended swap is answered from memory, and only while it is in use', async () => {
  const open = createWorld({ isEnded: false })
  open.batch.useMemory(true)
  const over = createWorld()
  for (const { read } of [open, over, open, over]) await soon(read('a'))
  expect([open.statements.length, over.statements.length]).toEqual([2, 2])

  over.batch.useMemory(true)
  await soon(over.read('a'))
  await soon(over.read('a'))
  expect(over.statements.length).toBe(3)
})

test('ten thousand ended swaps are remembered, and the oldest is forgotten first', async () => {
  const { batch, statements, read } = createWorld()
  batch.useMemory(true)
  const ids = Array.from({ length: 10_001 }, (_, index) => `s${index}`)
  await Promise.all(ids.map(read))
  statements.splice(0)

  await Promise.all(['s1', 's10000', 's0'].map(read))

  expect(statements).toEqual([['s0']])
})
