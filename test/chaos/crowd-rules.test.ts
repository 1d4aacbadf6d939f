import { stub } from '@geoswap/protocol/test/stub'
import { expect, test } from 'vitest'
import type { Evidence } from './checker/evidence.ts'
import type { OpEvent } from './checker/evm-evidence.ts'
import { escrowTotals } from './checker/gifts.ts'
import { honestPace, p95 } from './checker/honest-pace.ts'
import { boundedWaste, noGain } from './checker/strangers.ts'

const USDC = '0x00000000000000000000000000000000000000c0'
const ESCROW = '0x00000000000000000000000000000000000000e0'
const stranger = { id: 1, wallet: '0xaa', recipient: '0xbb', from: 'alpha', to: 'alpha', sell: 'USDC' }
const swap = {
  id: 'swp_1',
  op_hash: '0x01',
  wallet: '0xaa',
  account_id: 'acc_1',
  origin_chain: 1,
  input_token: USDC,
  input_amount: 5n,
}

type Facts = {
  parties?: object[]
  held?: Record<string, bigint>
  feeWei?: bigint
  attempts?: object[]
  history?: object[]
  moves?: object[]
  gifts?: object[]
}

/** Evidence of a run with one chain, on which a stranger began with five dollars. */
function evidenceOf({ parties, held = {}, feeWei = 0n, ...facts }: Facts): Evidence {
  const tokens = [{ symbol: 'USDC', address: USDC, decimals: 6 }]
  const chain = { name: 'alpha', chainId: 1, tokens, contracts: { escrow: ESCROW, vault: '0xff' } }
  const party = { ...stranger, isStranger: true, held: '5000000' }
  const balanceOf = async (owner: string) => held[owner] ?? 0n
  const evm = {
    chain,
    opEvents: [],
    balanceOf,
    creditOf: async () => 0n,
    feeOf: async () => feeWei,
    hasSucceeded: async () => true,
  }
  return stub<Evidence>({
    input: {
      setup: { parties: parties ?? [party], local: { chains: [chain] } },
      facts: { hasCrowd: true },
      ...{ faults: [], history: facts.history ?? [], gifts: facts.gifts ?? [] },
    },
    db: { swaps: [swap], attempts: facts.attempts ?? [], moves: facts.moves ?? [] },
    evm: new Map([[1, evm]]),
    opEventsOf: () => [],
    partyOf: () => party,
    balanceOf: (_: number, owner: string) => balanceOf(owner),
  })
}

/** Twenty swaps without strangers that took a second, and as many beside them. */
function timed(besideMs: number, settled = 20) {
  const paces = Array.from({ length: 40 }, (_, id) => (id < 20 ? ('alone' as const) : ('beside' as const)))
  const parties = paces.map((pace, id) => ({ id, pace, wallet: `0x${id}` }))
  const evidence = evidenceOf({
    parties,
    history: paces.map((_, client) => ({ type: 'begin', client, t: 0 })),
    moves: paces.slice(0, 20 + settled).map((pace, id) => ({
      ...{ became: 'settled', swap_id: `swp_${id}`, at: pace === 'alone' ? 10_000 : besideMs },
    })),
  })
  const swaps = parties.map(({ id, wallet }) => ({ id: `swp_${id}`, wallet }))
  return stub<Evidence>({ ...evidence, db: { ...evidence.db, swaps } })
}

test('the 95th percentile is the highest time but one of twenty', () => {
  expect(p95(Array.from({ length: 20 }, (_, index) => 20 - index))).toBe(19)
})

test('honest swaps may take 1.3 times as long beside strangers, and no longer', async () => {
  expect(await honestPace(timed(12_900))).toEqual([])
  expect(await honestPace(timed(13_100))).toMatchObject([{ invariant: 'INV-26' }])
})

test('an honest swap that does not settle beside strangers is no fast one', async () => {
  expect(await honestPace(timed(10_000, 19))).toMatchObject([{ invariant: 'INV-26' }])
})

// A cent at 2,500 USD.
const CENT_WEI = 4n * 10n ** 12n
const locks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ role: 'lock', chain_id: 1, tx_hash: `0x${index}`, swap_ids: ['swp_1'], at: 1_000 },
  }))

test('gas wasted for one wallet may exceed its budget by one transaction, and no more', async () => {
  const waste = (count: number) =>
    boundedWaste(evidenceOf({ feeWei: 50n * CENT_WEI, attempts: locks(count) }))

  expect(await waste(5)).toEqual([])
  expect(await waste(6)).toMatchObject([{ invariant: 'INV-27' }])
})

test('a stranger ends with at most the value that it began with, and gifts', async () => {
  const ending = (amount: bigint, gifts: object[] = []) =>
    noGain(evidenceOf({ held: { '0xaa': 4_000_000n, '0xbb': amount }, gifts }))

  expect(await ending(1_000_000n)).toEqual([])
  expect(await ending(1_000_001n)).toMatchObject([{ invariant: 'INV-27' }])
  expect(await ending(1_000_001n, [{ chain: 'alpha', amount: '1', client: 1 }])).toEqual([])
})

test('an input that a reorg gave back after its delivery is no gain beyond itself', async () => {
  const ending = (amount: bigint) => {
    const evidence = evidenceOf({ held: { '0xaa': 4_000_000n, '0xbb': amount } })
    return noGain({ ...evidence, opEventsOf: (_, kind) => (kind === 'deliver' ? [stub<OpEvent>({})] : []) })
  }

  expect(await ending(1_000_005n)).toEqual([])
  expect(await ending(1_000_006n)).toMatchObject([{ invariant: 'INV-27' }])
})

test('the escrow holds what strangers gave it, to the unit', async () => {
  const gifts = [{ chain: 'alpha', to: ESCROW, token: USDC, amount: '7', txHash: '0x' }]
  const holding = (amount: bigint) => escrowTotals(evidenceOf({ held: { [ESCROW]: amount }, gifts }))

  expect(await holding(7n)).toEqual([])
  expect(await holding(6n)).toMatchObject([{ invariant: 'INV-27' }])
  expect(await holding(8n)).toMatchObject([{ invariant: 'INV-27' }])
})
