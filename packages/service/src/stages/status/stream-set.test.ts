import { expect, test } from 'vitest'
import { createConnectionSlots } from './connection-slots.ts'
import { createStreamSet, type Stream } from './streams.ts'

function createWorld() {
  const slots = createConnectionSlots()
  const streams = createStreamSet(slots)
  const ends: number[] = []
  const add = (swapId: string, seq: number) => {
    const sink = { write: () => {}, end: () => void ends.push(seq) }
    const stream: Stream = { accountId: 'acc', swapId, after: 0, isAllowed: () => true, seq, sink }
    slots.acquire('acc')
    streams.add(stream)
    return stream
  }
  return { slots, streams, ends, add }
}

test('a stream is found by its swap until it ends, once, and releases its slot', () => {
  const { slots, streams, ends, add } = createWorld()
  const [first, second, other] = [add('s1', 1), add('s1', 2), add('s2', 3)]
  expect([streams.of('s1'), streams.of('s3'), streams.all()]).toEqual([
    [first, second],
    [],
    [first, second, other],
  ])

  streams.end(first)
  streams.end(first)
  expect([streams.of('s1'), ends, slots.count()]).toEqual([[second], [1], 2])
  expect([streams.remove(second), streams.remove(second), streams.of('s1')]).toEqual([true, false, []])
  streams.end(second)
  expect([ends, slots.count(), streams.all()]).toEqual([[1], 1, [other]])
})

test.each([[[1, 2, 3]], [[3, 2, 1]], [[2, 1, 3]]])('of streams at %j the furthest back counts', (seqs) => {
  const { streams, add } = createWorld()
  for (const seq of seqs) add('s1', seq)
  streams.remove(add('s2', 1))

  expect(streams.furthestBack()).toEqual([{ accountId: 'acc', swapId: 's1', after: 1 }])
})
