import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stub } from '@geoswap/protocol/test/stub'
import { type Client, GeoswapError, type StatusReply } from '@geoswap/sdk'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Context } from '../context.ts'
import { type Attempt, type Journal, type Order, openJournal } from '../store/journal.ts'
import { claimOrder } from './claim.ts'

const side = { chainId: 31_337, chain: 'alpha', token: '0xa', symbol: 'USDC', decimals: 6 }
const order: Order = {
  service: 'http://service',
  wallet: { name: 'bot', address: '0x1' },
  recipient: '0x1',
  amount: '10',
  from: side,
  to: { ...side, chainId: 31_338, chain: 'beta' },
  tradeType: 'exactInput',
}
const submitted = { stage: 'submitted', swapId: 'swp_1' } as const
// No process has this id: it is above the Linux maximum.
const dead = { pid: 2 ** 22 + 1, startedAt: '1' }
const unknownSwap = new GeoswapError({
  code: 'SWAP_NOT_FOUND',
  message: 'No.',
  status: 404,
  retryable: false,
  recovery: { action: 'FIX_REQUEST' },
})

let folder: string
let journal: Journal
let last: Attempt
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'geoswap-claim-'))
  journal = openJournal(folder)
  last = journal.begin(order, undefined, undefined) as Attempt
})
afterEach(() => rmSync(folder, { recursive: true }))

type World = { says: StatusReply['status'] | Error; isLocal?: boolean; isNew?: boolean }

/** Runs the same order again, with this reply of the service about the last swap. */
function runAgain({ says, isLocal = false, isNew = false }: World) {
  const read = async () => {
    if (says instanceof Error) throw says
    return { status: says }
  }
  const client = stub<Client>({ status: read })
  const terminal = { isInteractive: false, note: () => {} }
  const settings = { local: isLocal ? {} : undefined, rpcUrls: {} }
  const context = stub<Context>({ journal, terminal, settings, interrupts: {} })
  return claimOrder(context, client, { order, isNew, rpcUrl: undefined })
}

const notAsked = new Error('the service is not called')

test('SWAP_IN_FLIGHT while another process works on it, unless a new one is requested', async () => {
  await expect(runAgain({ says: notAsked })).rejects.toMatchObject({ code: 'SWAP_IN_FLIGHT' })
  expect(await runAgain({ says: notAsked, isNew: true })).toMatchObject({
    isLeft: false,
    attempt: { generation: 2 },
  })
})

test('SWAP_IN_FLIGHT names the swap that a dead process left pending', async () => {
  journal.record({ ...last, owner: dead }, submitted)

  const refusal = { code: 'SWAP_IN_FLIGHT', details: { swapId: 'swp_1' } }
  await expect(runAgain({ says: 'pending' })).rejects.toMatchObject(refusal)
})

test('SWAP_IN_FLIGHT names the attempt whose submission may have arrived', async () => {
  journal.record(
    { ...last, owner: dead },
    { stage: 'submitting', submission: { geoOpToken: '', signature: '' } },
  )

  const refusal = { code: 'SWAP_IN_FLIGHT', details: { attempt: last.id } }
  await expect(runAgain({ says: notAsked })).rejects.toMatchObject(refusal)
})

test('SWAP_ENDED once for a swap that settled after its process ended, then the next one starts', async () => {
  journal.record({ ...last, owner: dead }, submitted)

  await expect(runAgain({ says: 'settled' })).rejects.toMatchObject({ code: 'SWAP_ENDED' })
  expect(await runAgain({ says: notAsked })).toMatchObject({ isLeft: false })
})

test.each(['failed', 'refunded'] as const)(
  'an interrupted swap that %s since does not prevent another',
  async (says) => {
    journal.record({ ...last, owner: dead }, submitted)

    expect(await runAgain({ says })).toMatchObject({ isLeft: false })
    expect(journal.find(last.id)).toMatchObject({ stage: 'ended', outcome: says })
  },
)

const inFiveMinutes = () => Math.floor(Date.now() / 1_000) + 300
const submitting = (lockableUntil: number) =>
  ({ stage: 'submitting', submission: { geoOpToken: '', signature: '' }, lockableUntil }) as const

test.each(['notSubmitted', 'failed', 'refunded'] as const)(
  'SIGNATURE_OPEN after %s while the signature can be used, unless a new one is requested',
  async (outcome) => {
    const signed = journal.record(last, submitting(inFiveMinutes()))
    journal.record(signed, { stage: 'ended', outcome, endedAt: new Date().toISOString() })

    await expect(runAgain({ says: notAsked })).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
    expect(await runAgain({ says: notAsked, isNew: true })).toMatchObject({ isLeft: false })
  },
)

test('SIGNATURE_OPEN also if only the service says that an interrupted swap has failed', async () => {
  journal.record(journal.record({ ...last, owner: dead }, submitting(inFiveMinutes())), submitted)

  await expect(runAgain({ says: 'failed' })).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
  await expect(runAgain({ says: notAsked })).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
})

test('an expired signature does not prevent another swap', async () => {
  const signed = journal.record(last, submitting(inFiveMinutes() - 301))
  journal.record(signed, { stage: 'ended', outcome: 'notSubmitted', endedAt: new Date().toISOString() })

  expect(await runAgain({ says: notAsked })).toMatchObject({ isLeft: false })
})

test('a swap unknown to the service is forgotten only together with its local network', async () => {
  journal.record({ ...last, owner: dead }, submitted)

  await expect(runAgain({ says: unknownSwap })).rejects.toMatchObject({ code: 'SWAP_IN_FLIGHT' })
  expect(await runAgain({ says: unknownSwap, isLocal: true })).toMatchObject({ isLeft: false })
})

test('of two processes that run again after a crash, one gets the order', async () => {
  journal.record({ ...last, owner: dead }, { stage: 'built' })

  const both = await Promise.allSettled([runAgain({ says: notAsked }), runAgain({ says: notAsked })])

  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})
