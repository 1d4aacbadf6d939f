import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Actor, createActor } from '../../../test/conformance/actor.ts'
import {
  type SolanaConformanceWorld,
  startSolanaConformanceWorld,
} from '../../../test/conformance/solana-world.ts'
import { routes } from '../../../test/conformance/world.ts'
import { chunksOf } from '../../swap/group.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import type { CustodyEvent } from '../custody.ts'
import { NATIVE_SOL } from './bytes.ts'

const SWAPS = Number(process.env['GEOSWAP_TEST_SWAPS'] ?? 6)
const SWEPT_AT_ONCE = 20
const FAR_AWAY_SECONDS = 3 * 86_400

let world: SolanaConformanceWorld
let actor: Actor
beforeAll(async () => {
  world = await startSolanaConformanceWorld()
  actor = createActor(world, { since: (await world.chain.readHeads()).head.number })
})
afterAll(() => world.stop())

async function readBooks(after: bigint, inputs: readonly Op[] = []) {
  const { hard } = await world.chain.readHeads()
  const read = await world.custody.readCustody(after, hard, [], async () => inputs)
  // Readings overlap; the ledger books each event once.
  return { ...read, events: read.events.filter(({ block }) => block > after) }
}

/** The lamports of both fee payers together. */
async function feeMoney(): Promise<bigint> {
  const { head } = await world.chain.readHeads()
  const held = await Promise.all(Object.values(world.senders).map((key) => world.chain.readCoins(key, head)))
  return held.reduce((sum, each) => sum + each, 0n)
}

function totalOf(events: readonly CustodyEvent[], kind: CustodyEvent['kind'], token = NATIVE_SOL): bigint {
  const amounts = events.flatMap((event) =>
    event.kind === kind && 'token' in event && event.token === token ? [event.amount ?? 0n] : [],
  )
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

/** Every fourth swap is refunded, all others are delivered and claimed. */
async function perform(swap: Swap, index: number): Promise<void> {
  await actor.lock(swap)
  if (index % 4 === 3) {
    await actor.land('relay', actor.refunding(swap))
    return
  }
  await actor.land('deliver', () => world.chain.planDelivery([swap.op]))
  await actor.land('relay', actor.claiming([swap]))
}

test(
  `over ${SWAPS} swaps each way the books have every lamport, and all rent is back after the sweep`,
  async () => {
    const { solana, chain } = world
    await world.finalize()
    const opened = await readBooks(0n)
    const before = await feeMoney()
    const swaps: Swap[] = []
    for (let index = 0; index < SWAPS; index += 1) {
      for (const route of routes) {
        const swap = await world.newSwap(route)
        swaps.push(swap)
        await perform(swap, index)
      }
    }
    await world.finalize()
    const { rent } = solana
    const paid = swaps.filter((_, index) => Math.floor(index / routes.length) % 4 !== 3)

    const { events, balances } = await readBooks(opened.block)
    const [spent, lent, back] = [
      totalOf(events, 'spent'),
      totalOf(events, 'rentPaid'),
      totalOf(events, 'rentReturned'),
    ]
    expect(before - (await feeMoney())).toBe(spent + lent - back)
    expect(lent - back).toBe(BigInt(paid.length) * rent.markerLamports)
    for (const token of Object.values(world.tokens)) {
      const [locked, claimed, refunded] = (['locked', 'claimed', 'refunded'] as const).map((kind) =>
        totalOf(events, kind, token),
      )
      expect([token, locked]).toEqual([token, (claimed ?? 0n) + (refunded ?? 0n)])
    }
    expect(events.filter(({ kind }) => kind === 'received' || kind === 'left')).toEqual([])
    expect(balances?.filter(({ place }) => place === 'escrow').map(({ amount }) => amount)).toEqual([0n, 0n])

    await solana.dev.dev_advanceClock(FAR_AWAY_SECONDS).send()
    for (const some of chunksOf(paid, SWEPT_AT_ONCE)) {
      const markers = some.map(({ op }) => op.deliveryHash)
      await actor.land('deliver', async () => ({ kind: 'sweep', markers }))
    }
    await world.finalize()
    const later = await readBooks(opened.block)
    const [fees, allLent, allBack] = [
      totalOf(later.events, 'spent'),
      totalOf(later.events, 'rentPaid'),
      totalOf(later.events, 'rentReturned'),
    ]
    expect(allBack).toBe(allLent)
    expect(before - (await feeMoney())).toBe(fees)
    const created = paid.filter(({ op }) => op.createsAccount).length
    const perSwap = (fees - BigInt(created) * rent.tokenAccountLamports) / BigInt(swaps.length)
    expect(perSwap).toBeLessThan(35_000n)
    const { hard } = await chain.readHeads()
    await expect(chain.readUndelivered([paid[0]?.op] as Op[], hard)).rejects.toThrow('could have been swept')
  },
  SWAPS * 10_000 + 60_000,
)

test('an open input is in the balance of the escrow, and an unknown one as its event shows it', async () => {
  await world.finalize()
  const { block } = await readBooks(0n)
  const swap = await world.newSwap()
  await actor.lock(swap)
  await world.finalize()
  const heldIn = async (inputs: readonly Op[]) => {
    const { balances = [] } = await readBooks(block, inputs)
    return balances.find(({ place, token }) => place === 'escrow' && token === swap.op.inputToken)?.amount
  }

  expect(await heldIn([swap.op])).toBe(swap.op.inputAmount)
  expect(await heldIn([])).toBe(swap.op.inputAmount)
})

test('money that a stranger sends to the vault is received, and what its own key sends has left', async () => {
  const { solana } = world
  await world.finalize()
  const { block } = await readBooks(0n)
  const to = (await generateKeyPairSigner()).address
  await solana.send(world.vault, 7n)
  const move = { from: world.vault, to, token: NATIVE_SOL, amount: 2_000_000n }
  await actor.land('deliver', () => world.chain.planTransfer(move))
  await world.finalize()

  const { events } = await readBooks(block)

  expect(events).toMatchObject([
    { kind: 'received', place: 'vault', token: NATIVE_SOL, amount: 7n },
    { kind: 'left', place: 'vault', token: NATIVE_SOL },
  ])
})
