import type { Address } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOperatedSolana } from '../../test/support/operated-solana.ts'
import { fund } from './fund.ts'

let world: Awaited<ReturnType<typeof startOperatedSolana>>
beforeAll(async () => {
  world = await startOperatedSolana()
})
afterAll(() => world.stop())

const apply = (...more: string[]) => world.run(fund, ['apply', ...more])

function readAll(): Promise<bigint[]> {
  const { vault, feePayers } = world.config
  const read = async (address: Address) => (await world.rpc.getBalance(address).send()).value
  return Promise.all([feePayers.input, feePayers.delivery, vault].map(read))
}

test('a funder without SOL is named with its amount before anything is sent', async () => {
  expect(await apply()).toMatchObject({
    code: 2,
    text: expect.stringMatching(/solana: the funder \w+ has 0 and needs more than [\d.]+ SOL/),
  })
  expect(await readAll()).toEqual([0n, 0n, 0n])
})

test('of two runs that see the same balances one pays fee payers and vault, and a third pays nobody', async () => {
  await world.give(world.deployer, 100n * 10n ** 9n)
  const planned = await world.run(fund, ['plan'])
  const first = await apply('--swaps', '200')
  const before = await readAll()

  // No block is confirmed: the second run reads the balances that the first has read.
  await world.dev.dev_pauseSlots().send()
  const sent = world.countSent()
  const runs = ['1000', '1200'].map((swaps) => apply('--swaps', swaps))
  await expect.poll(() => world.countSent() - sent, { timeout: 30_000 }).toBe(2)
  await world.dev.dev_resumeSlots().send()
  const both = await Promise.all(runs)
  const paid = await readAll()
  const last = await apply('--swaps', '1000')

  const [input, , vault] = paid
  expect(planned.text).toMatch(/solana +vault +\w+ +0 +0\.0009/)
  expect(first).toMatchObject({ code: 0, text: expect.stringMatching(/SOL to the relayer/) })
  expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
  expect(both.map(({ text }) => text).join()).toContain('Another run has paid in place of transaction')
  const times = both[0]?.code === 0 ? 5n : 6n
  expect(input).toBe((before[0] ?? 0n) * times)
  expect(vault).toBe(890_880n)
  expect(last).toMatchObject({ code: 0, text: expect.stringContaining('Nothing to send.') })
  expect(await readAll()).toEqual(paid)
})
