import { stub } from '@geoswap/protocol/test/stub'
import type { Client, SwapOptions } from '@geoswap/sdk'
import { createInterrupts } from '@geoswap/wallet/context'
import { chains, offer, swap, tokens } from '@geoswap/wallet/test/service'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startWorld } from '../test/world.ts'
import { executeSwap } from './execute.ts'

let world: Awaited<ReturnType<typeof startWorld>>
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.stop())

function gate() {
  const ends: { resolve(): void; reject(error: Error): void }[] = []
  const promise = new Promise<void>((resolve, reject) => ends.push({ resolve, reject }))
  // It may end before anybody waits for it.
  promise.catch(() => {})
  return {
    promise,
    resolve: () => ends[0]?.resolve(),
    reject: (error: Error) => ends[0]?.reject(error),
  }
}

/** A swap that is submitted at once, and ends when the test says so. */
function run(waitMs: number) {
  const [submitted, ended] = [gate(), gate()]
  const asked: string[] = []
  const inFlight: number[] = []
  const client = stub<Client>({
    chains: async () => ({ chains }),
    tokens: async () => ({ tokens }),
    quote: async () => offer,
    status: async (id: string) => {
      asked.push(id)
      return swap
    },
    async swap(_request: unknown, _signer: unknown, { confirm, onProgress }: SwapOptions) {
      await confirm?.(offer)
      const submission = { geoOpToken: 'op', signature: '0x' }
      onProgress?.({ step: 'submitting', submission, lockableUntil: 0 })
      inFlight.push(world.mcp.submitting.size)
      onProgress?.({ step: 'submitted', swapId: 'swp_1' })
      submitted.resolve()
      await ended.promise
      return { ...swap, status: 'settled' }
    },
  })
  const mcp = { ...world.mcp, rules: { ...world.mcp.rules, waitMs } }
  const context = { ...mcp.context, interrupts: createInterrupts(() => {}), seen: {} }
  const call = { signal: context.interrupts.signal, report: () => {} }
  const order = { from: 'alpha:USDC', to: 'beta:USDC', amount: '10' }
  const answer = executeSwap(mcp, { context, client, submitted: submitted.promise }, order, call)
  return { answer, ended, asked, inFlight }
}

const isOver = () => vi.waitUntil(() => world.mcp.running.size === 0)

test('a swap that outlasts the wait is reported as it stands, and goes on', async () => {
  const { answer, ended, asked } = run(0)

  expect(await answer).toMatchObject({ outcome: 'pending', swap: { swapId: 'swp_1', substatus: 'locked' } })
  expect(asked).toEqual(['swp_1'])
  const [attempt] = world.journal.list()
  expect(attempt).toMatchObject({ stage: 'submitted', swapId: 'swp_1' })
  expect([...world.mcp.running]).toEqual([attempt?.id])

  ended.resolve()
  await isOver()
  expect(world.journal.list()).toMatchObject([{ stage: 'ended', outcome: 'settled' }])
  expect(world.lines.at(-1)).toBe('swp_1 pending')
})

test('a swap that nobody waits for any more is logged if it can no longer be followed', async () => {
  const { answer, ended } = run(0)
  await answer

  ended.reject(new Error('lost'))
  await isOver()

  expect(world.lines.at(-1)).toBe(`${world.journal.list()[0]?.id} is no longer followed: lost`)
})

test('a submission counts as in flight until it is answered', async () => {
  const { answer, ended, inFlight } = run(0)
  await answer

  expect([inFlight, world.mcp.submitting.size]).toEqual([[1], 0])
  ended.resolve()
  await isOver()
})

test('a failure that the caller sees is not logged, and leaves nothing to wait for', async () => {
  const { answer, ended } = run(60_000)
  ended.reject(new Error('lost'))

  await expect(answer).rejects.toThrow('lost')
  expect(world.lines.filter((line) => line.includes('lost'))).toEqual([])
  expect(world.mcp.submitting.size).toBe(0)
})
