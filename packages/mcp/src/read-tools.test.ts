import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stub } from '@geoswap/protocol/test/stub'
import type { Client, StatusReply } from '@geoswap/sdk'
import { createInterrupts } from '@geoswap/wallet/context'
import { type Attempt, type Journal, type Order, openJournal } from '@geoswap/wallet/store/journal'
import { chains, swap, tokens } from '@geoswap/wallet/test/service'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { wallet } from '../test/world.ts'
import type { Opened } from './mcp-context.ts'
import { swapHistory, swapStatus } from './read-tools.ts'

let folder: string
let journal: Journal
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'geoswap-reads-'))
  journal = openJournal(join(folder, 'journal'))
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true })
})

type Read = { id: string; waitSeconds: number | undefined }

/** A service that reports these states, one after the other, and holds each read as long as it is asked to. */
function serviceOf(...states: Partial<StatusReply>[]) {
  const reads: Read[] = []
  const client = {
    chains: async () => ({ chains }),
    tokens: async () => ({ tokens }),
    async status(id: string, { waitSeconds = 0 }: { waitSeconds?: number } = {}) {
      reads.push({ id, waitSeconds })
      if (reads.length > 9) throw new Error('It is read without end')
      vi.setSystemTime(Date.now() + waitSeconds * 1_000)
      return { ...swap, ...states[Math.min(reads.length, states.length) - 1] }
    },
  }
  return { client: stub<Client>(client), reads }
}

const reported: string[] = []
const call = { signal: new AbortController().signal, report: (doing: string) => void reported.push(doing) }
const openedBy = (client: Client, wallets: object = {}) =>
  stub<Opened>({ client, context: { journal, wallets, interrupts: createInterrupts(() => {}) } })

function ask(client: Client, swapId: string, waitSeconds?: number) {
  reported.splice(0)
  vi.useFakeTimers({ toFake: ['Date'] })
  return swapStatus(openedBy(client), { swapId, waitSeconds }, call)
}

const settled = { status: 'settled', substatus: 'delivered' } as const

test.each<[string, number | undefined, Partial<StatusReply>[], number[]]>([
  ['once and at once by default', undefined, [{}], [0]],
  ['once, held as long as asked', 5, [{}], [5]],
  ['again and again until the time is over', 40, [{}], [15, 15, 10]],
  ['until it has ended', 40, [{}, settled], [15, 15]],
])('the status of a swap is read %s', async (_, waitSeconds, states, holds) => {
  const { client, reads } = serviceOf(...states)

  await ask(client, 'swp_1', waitSeconds)

  expect(reads).toEqual(holds.map((hold) => ({ id: 'swp_1', waitSeconds: hold })))
  expect(reported).toEqual(holds.map((_hold, index) => ({ ...swap, ...states[index] }).substatus))
})

const side = (index: number) => {
  const { chainId, address, symbol, decimals } = tokens[index] ?? {
    chainId: 0,
    address: '',
    symbol: '',
    decimals: 0,
  }
  return { chainId, chain: chains[index === 0 ? 0 : 1]?.name ?? '', token: address, symbol, decimals }
}
const order: Order = {
  ...{ service: 'service', from: side(0), to: side(2), recipient: wallet.address, amount: '10000000' },
  ...{ wallet: { name: 'bot', address: wallet.address }, tradeType: 'exactInput' },
}

function begin(): Attempt {
  const attempt = journal.begin(order, undefined, undefined)
  if (!attempt) throw new Error('The order is taken')
  return attempt
}
const submit = (attempt: Attempt) => journal.record(attempt, { stage: 'submitted', swapId: 'swp_1' })

test('a swap of this machine is found by its attempt, and told in whole tokens', async () => {
  const { id } = submit(begin())
  const { client, reads } = serviceOf({})

  const view = await ask(client, id)

  expect(reads.map((read) => read.id)).toEqual(['swp_1'])
  expect(view).toMatchObject({ pay: { amount: '10', symbol: 'USDC' }, recipient: wallet.address })
  expect(journal.find(id)).toMatchObject({ stage: 'submitted' })
})

test('the end of a swap is written to the journal once', async () => {
  const { id } = submit(begin())
  await ask(serviceOf(settled).client, id)
  const ended = journal.find(id)

  await ask(serviceOf({ status: 'refunded' }).client, id)

  expect(ended).toMatchObject({ stage: 'ended', outcome: 'settled', swapId: 'swp_1' })
  expect(journal.find(id)).toEqual(ended)
})

test.each<[string, (attempt: Attempt) => unknown, string]>([
  ['before its submission has no swap', () => {}, 'NOT_SUBMITTED'],
  [
    'whose submission has no answer may have a swap',
    (attempt) =>
      journal.record(attempt, { stage: 'submitting', submission: { geoOpToken: 'op', signature: '0x' } }),
    'SUBMISSION_UNKNOWN',
  ],
])('an attempt %s', async (_, change, code) => {
  const attempt = begin()
  change(attempt)
  const { client, reads } = serviceOf({})

  await expect(ask(client, attempt.id)).rejects.toMatchObject({ code })
  expect(reads).toEqual([])
})

test('the swaps of a wallet are asked for by its address', async () => {
  const queries: object[] = []
  const { client } = serviceOf({})
  const history = async (query: object) => {
    queries.push(query)
    return { swaps: [] }
  }
  const find = (name: string) => (name === 'bot' ? wallet : undefined)
  const list = () => [wallet, { ...wallet, name: 'cat' }]
  const opened = openedBy(stub<Client>({ ...client, history }), { find, list })
  const account = `eip155:1:${wallet.address}`
  const mint = 'So11111111111111111111111111111111111111112'

  for (const named of ['bot', wallet.address, account, mint, undefined])
    await swapHistory(opened, { wallet: named, limit: undefined })

  expect(queries).toEqual([
    ...[wallet.address, wallet.address, account, mint].map((each) => ({ wallet: each })),
    {},
  ])
  await expect(swapHistory(opened, { wallet: 'dog' })).rejects.toMatchObject({
    code: 'NO_WALLET',
    advice: 'There are bot, cat; any address is accepted as well.',
  })
})
