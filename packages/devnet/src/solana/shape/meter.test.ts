import { expect, test } from 'vitest'
import { createMeter } from './meter.ts'

test('calls and bytes are counted per client and method, a batch by its calls', () => {
  const meter = createMeter()

  meter.answered({ client: 'worker', methods: ['getSlot'], requestBytes: 50 }, 30)
  meter.answered({ client: 'worker', methods: ['getSlot', 'getTransaction'], requestBytes: 100 }, 60)
  meter.refused({ client: 'attester', methods: ['getSlot'], requestBytes: 50 })

  expect(meter.read()).toEqual([
    {
      client: 'worker',
      method: 'getSlot',
      calls: 2,
      refused: 0,
      requestBytes: 100,
      replyBytes: 60,
      quicknodeCredits: 60,
      ankrCredits: 1_000,
    },
    expect.objectContaining({ client: 'worker', method: 'getTransaction', calls: 1, requestBytes: 50 }),
    expect.objectContaining({ client: 'attester', method: 'getSlot', calls: 0, refused: 1 }),
  ])
})

test('a reset begins again from nothing', () => {
  const meter = createMeter()
  meter.answered({ client: 'worker', methods: ['getSlot'], requestBytes: 50 }, 30)

  meter.reset()

  expect(meter.read()).toEqual([])
})
