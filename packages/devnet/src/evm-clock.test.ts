import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Call, mineByTheClock } from './evm-clock.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A node that takes this long for a block, and records its requests. */
function nodeThatTakes(ms: number) {
  const asked: string[] = []
  let busy = 0
  let most = 0
  const ask = async ({ method }: Call) => {
    asked.push(method)
    busy += 1
    most = Math.max(most, busy)
    await new Promise((resolve) => setTimeout(resolve, ms))
    busy -= 1
    return method
  }
  return { asked, ask, mostAtOnce: () => most }
}
const refuse = (error: unknown) => {
  throw error
}
const setPace = (...params: unknown[]): Call => ({ method: 'evm_setIntervalMining', params })

test('blocks follow the clock, one after the other, however many are requested', async () => {
  const node = nodeThatTakes(30)
  const ask = mineByTheClock(node.ask, 100, refuse)

  const extra = [ask({ method: 'hardhat_mine', params: ['0x1'] }), ask({ method: 'evm_mine' })]
  await vi.advanceTimersByTimeAsync(1_000)

  expect(await Promise.all(extra)).toEqual(['hardhat_mine', 'evm_mine'])
  expect(node.asked.filter((method) => method === 'evm_mine').length).toBeGreaterThanOrEqual(8)
  expect(node.mostAtOnce()).toBe(1)
})

test('a halted chain makes no block until it is resumed', async () => {
  const node = nodeThatTakes(30)
  const ask = mineByTheClock(node.ask, 100, refuse)
  await vi.advanceTimersByTimeAsync(110)

  const halted = ask(setPace(0))
  await vi.advanceTimersByTimeAsync(30)
  expect(await halted).toBe(true)
  const before = node.asked.length
  await vi.advanceTimersByTimeAsync(1_000)
  expect(node.asked).toHaveLength(before)

  await ask(setPace([40, 60]))
  await vi.advanceTimersByTimeAsync(200)
  expect(node.asked.length).toBeGreaterThan(before)
})

test('a failed block is reported, and the next one follows', async () => {
  const faults: unknown[] = []
  let blocks = 0
  const ask = async () => {
    blocks += 1
    if (blocks === 1) throw new Error('not this one')
  }
  mineByTheClock(ask, 100, (error) => faults.push(error))

  await vi.advanceTimersByTimeAsync(250)

  expect(blocks).toBe(2)
  expect(faults).toEqual([new Error('not this one')])
})

test.each([[[]], [['1000']], [[-1]], [[1.5]], [[[5, 1]]], [[[1, 2, 3]]]])(
  'the node refuses an invalid interval: %j',
  async (params) => {
    const node = nodeThatTakes(0)
    const ask = mineByTheClock(node.ask, 100, refuse)

    const answer = ask(setPace(...params))
    await vi.advanceTimersByTimeAsync(1)

    expect(await answer).toBe('evm_setIntervalMining')
  },
)
