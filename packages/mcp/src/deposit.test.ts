import { stub } from '@geoswap/protocol/test/stub'
import type { Client, DepositOptions } from '@geoswap/sdk'
import { createInterrupts } from '@geoswap/wallet/context'
import type { Journal, Order } from '@geoswap/wallet/store/journal'
import { chains, offer, tokens } from '@geoswap/wallet/test/service'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startWorld, wallet } from '../test/world.ts'
import { openAddress } from './execute.ts'

let world: Awaited<ReturnType<typeof startWorld>>
const opened: DepositOptions[] = []
beforeAll(async () => {
  world = await startWorld()
})
beforeEach(() => void opened.splice(0))
afterAll(() => world.stop())

const operation = { domain: {}, types: {}, primaryType: 'GeoOp', message: {} }
const depositAddress = `0x${'d'.repeat(40)}`
const input = { from: 'alpha:USDC', to: 'beta:USDC', amount: '10' }

type Change = { quote?: object; settings?: object; journal?: Journal }

function run(words: object = {}, { quote = {}, settings = {}, journal = world.journal }: Change = {}) {
  const { mcp } = world
  const client = stub<Client>({
    chains: async () => ({ chains }),
    tokens: async () => ({ tokens }),
    quote: async () => ({ ...offer, ...quote }),
    deposit: async (_request: unknown, options: DepositOptions) => {
      opened.push(options)
      const [swapId, until] = ['swp_1', '2026-01-02T03:04:35.678Z']
      return {
        swapId,
        depositAddress,
        token: tokens[0]?.address,
        amount: offer.input,
        until,
        quote: offer,
        operation,
      }
    },
  })
  const context = {
    ...mcp.context,
    journal,
    settings: { ...mcp.context.settings, ...settings },
    interrupts: createInterrupts(() => {}),
    seen: {},
  }
  return openAddress(mcp, { context, client, submitted: Promise.resolve() }, { ...input, ...words })
}

test('a deposit is opened with the address to pay, and the journal keeps what recovers it', async () => {
  const answer = await run()

  expect(answer).toMatchObject({
    ...{ swapId: 'swp_1', depositAddress, send: { amount: '10', symbol: 'USDC', chain: 'alpha' } },
    quote: { minReceive: { amount: '9.8' }, recipient: wallet.address },
  })
  expect(opened).toMatchObject([{ maxPriceImpactBps: 500 }])
  expect(world.journal.find('swp_1')).toMatchObject({ stage: 'submitted', operation })
  expect(world.lines).toEqual([`swp_1 waits for a deposit at ${depositAddress}`])
})

test('the journal keeps it also if another process begins the same order at that moment', async () => {
  const { journal } = world
  let isAlone = true
  const findLast = (order: Order) => {
    const last = journal.findLast(order)
    if (isAlone) journal.begin(order, last, undefined)
    isAlone = false
    return last
  }

  await run({ amount: '11' }, { journal: { ...journal, findLast } })

  const kept = journal.list().filter(({ order }) => order.amount === '11000000')
  expect(kept.map(({ stage }) => stage).toSorted()).toEqual(['preparing', 'submitted'])
})

test.each<[string, object, Change, string]>([
  ['to somebody who is not allowed', { recipient: `0x${'9'.repeat(40)}` }, {}, 'RECIPIENT_NOT_ALLOWED'],
  ['above the limit of a swap', {}, { quote: { inputUsd: '50.01' } }, 'SWAP_CAP'],
  ['from a chain whose decimals only the service tells', {}, { settings: { rpcUrls: {} } }, 'NO_NODE'],
])('a deposit %s is not opened', async (_, words, change, code) => {
  await expect(run(words, change)).rejects.toMatchObject({ code })
  expect(opened).toEqual([])
})

test('a deposit counts against what is left of the day', async () => {
  world.mcp.spending.add('att_other', 5_001n, () => {})

  await expect(run()).rejects.toMatchObject({ code: 'DAY_CAP' })
})
