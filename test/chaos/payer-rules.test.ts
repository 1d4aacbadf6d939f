import { stub } from '@geoswap/protocol/test/stub'
import { expect, test } from 'vitest'
import { createRandom } from '../bench/random.ts'
import { authority, secrecy } from './checker/books.ts'
import type { Evidence } from './checker/evidence.ts'
import { deltas } from './checker/outcomes.ts'
import { drawForAll } from './workload.ts'

const USDC = 'mint'
const payer = { id: 1, wallet: 'Payer', recipient: '0xbb', from: 'solana', to: 'beta', sell: 'USDC' }
const swap = {
  ...{
    id: 'swp_1',
    state: 'failed',
    wallet: 'Payer',
    recipient: '0xbb',
    input_token: USDC,
    input_amount: 5n,
  },
  ...{ origin_chain: 7, destination_chain: 2, output_token: '0xcc' },
}

type Facts = { holds: bigint; behaviour?: string; swaps?: object[]; raws?: string[]; log?: string }

/** A payer on Solana that began with five, and holds this at the end. */
function evidenceOf({ holds, behaviour = 'honest', swaps = [], raws = [], log = '' }: Facts): Evidence {
  const party = { ...payer, behaviour, method: 'payment', held: '5', isStranger: false }
  const chain = { name: 'solana', chainId: 7, tokens: [{ symbol: 'USDC', address: USDC, decimals: 6 }] }
  return stub<Evidence>({
    input: {
      setup: { parties: [party], local: { chains: [chain] }, secrets: [], databaseUrl: 'postgres:' },
      logs: [{ name: 'worker', text: log }],
    },
    db: { swaps, attempts: raws.map((raw) => ({ raw })) },
    evm: new Map(),
    opEventsOf: () => [],
    partyOf: () => party,
    balanceOf: async (_: number, owner: string) => (owner === 'Payer' ? holds : 0n),
  })
}

test('a payer on Solana whose payments were all refused has its money', async () => {
  expect(await authority(evidenceOf({ holds: 5n }))).toEqual([])
  expect(await authority(evidenceOf({ holds: 4n }))).toMatchObject([{ invariant: 'INV-19' }])
})

test('a payer that drains its account lost what it moved away itself, and no other payer may', async () => {
  const drained = evidenceOf({ holds: 0n, behaviour: 'cancelledPayment', swaps: [swap] })
  const robbed = evidenceOf({ holds: 0n, behaviour: 'twoPayments', swaps: [swap] })

  expect([await authority(drained), await deltas(drained)]).toEqual([[], []])
  expect((await authority(robbed)).length + (await deltas(robbed)).length).toBe(2)
})

test('neither of the two transactions that are recorded for a payment may be in a log', () => {
  const [creation, payment] = ['A'.repeat(200), 'B'.repeat(200)]
  const raws = [`${creation} ${payment}`]

  for (const log of [creation, payment])
    expect(secrecy(evidenceOf({ holds: 5n, raws, log }))).toMatchObject([{ invariant: 'INV-24' }])
  expect(secrecy(evidenceOf({ holds: 5n, raws, log: 'C'.repeat(200) }))).toEqual([])
})

test('every kind of payer comes from Solana in a run', () => {
  const payers = drawForAll(createRandom(1), 200, 0).filter(
    ({ from, method }) => from === 'solana' && method === 'payment',
  )

  expect(new Set(payers.map(({ behaviour }) => behaviour))).toEqual(
    new Set(['honest', 'cancelledPayment', 'twoPayments', 'wrongPayments']),
  )
})
