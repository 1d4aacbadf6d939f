import { expect, inject, test } from 'vitest'
import { runCommand } from '../../packages/service/src/command.ts'
import { inspectSwaps } from '../../packages/service/src/operate/swaps.ts'
import { createOperator } from '../operator.ts'
import { createWorld, submitSwap, until } from '../world.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world
const operator = createOperator(inject('databaseUrl'))

const USDC = 1_000_000n

async function swaps(...args: string[]): Promise<{ code: number; out: string; hint: string }> {
  const [out, hints]: string[][] = [[], []]
  const output = { out: (text: string) => out?.push(text), hint: (text: string) => hints?.push(text) }
  const env = { GEOSWAP_HOME: inject('home') }
  const code = await runCommand(output, () => inspectSwaps(args, env, output))
  return { code, out: out?.join('\n') ?? '', hint: hints?.join('\n') ?? '' }
}

test('an operator finds a swap, and sees everything that was signed, attested and booked for it', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: 10n * USDC }
  const { swapId, build } = await submitSwap(world, wallet, order)
  const booked = 'select 1 from ledger_movements where swap_id = $1'
  await until(async () => (await operator.query(booked, [swapId])).length === 3)

  const listed = JSON.parse((await swaps('list', '--wallet', wallet.address, '--json')).out)
  const shown = JSON.parse((await swaps('show', swapId, '--json')).out)
  const trace: { at: string; what: string }[] = JSON.parse((await swaps('trace', swapId, '--json')).out)
  const { inputAmount, quotedOutput } = listed[0]
  const table = (await swaps('list', '--wallet', wallet.address)).out
  const told = (await swaps('trace', swapId)).out
  const times = trace.map(({ at }) => at)

  expect(listed).toMatchObject([{ id: swapId, status: 'settled', inputAmount: `${10n * USDC}` }])
  expect(shown).toMatchObject({
    id: swapId,
    opHash: build.geoOpHash,
    venue: 'inventory',
    inputAmount,
    quotedOutput,
  })
  expect(trace.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      ...['swap accepted', 'signed lock', 'decided lock', 'signed deliver', 'swap settled', 'attested claim'],
      ...['signed claim', 'booked locked', 'booked delivered', 'booked claimed'],
    ]),
  )
  expect(times).toEqual(times.toSorted())
  expect(table).toMatch(/ 10 alpha:USDC +0\.0\d+ beta:WETH /)
  expect(told).toContain('amount 10 alpha:USDC, ')
  const all = [listed, shown, trace].map((each) => JSON.stringify(each)).join()
  expect(all).not.toMatch(/"(raw|signature)"/)
})

test('an unknown status and an unknown swap are reported', async () => {
  expect(await swaps('list', '--status', 'lost')).toMatchObject({ code: 2, out: '' })
  expect(await swaps('trace', 'swp_0')).toMatchObject({ code: 2, hint: 'Unknown swap swp_0.' })
})
