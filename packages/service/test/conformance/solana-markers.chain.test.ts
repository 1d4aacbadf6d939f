import type { Address } from '@solana/kit'
import { getCloseAccountInstruction } from '@solana-program/token'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Chain } from '../../src/chains/chain.ts'
import { toTokenAccountAddress } from '../../src/chains/solana/accounts.ts'
import { type MarkerKind, toMarker } from '../../src/chains/solana/marker.ts'
import type { Op } from '../../src/model/swap.ts'
import { MARKER_KEY } from '../support/solana.ts'
import { type Actor, createActor, nothing, paid } from './actor.ts'
import { freeze, type SolanaConformanceWorld, startSolanaConformanceWorld } from './solana-world.ts'

let world: SolanaConformanceWorld
let chain: Chain
let actor: Actor
beforeAll(async () => {
  world = await startSolanaConformanceWorld()
  chain = world.chain
  actor = createActor(world, { since: 0n })
})
afterAll(() => world?.stop())

async function markerOf(op: Op, kind: MarkerKind, generation = 0): Promise<string> {
  const base = kind === 'input' ? world.senders.relay : world.places.inventory
  return (await toMarker({ key: MARKER_KEY, opHash: op.hash, kind, generation, base })).address
}

const fundMarker = async (...of: Parameters<typeof markerOf>) =>
  world.solana.send(await markerOf(...of), world.solana.rent.emptyLamports)

test('a stranger who funds the marker of a delivery delays it by a generation, and it pays once', async () => {
  const swap = await world.newSwap()
  const { op } = swap
  const moved = await actor.watch(swap)
  const first = await actor.sign('deliver', () => chain.planDelivery([op]))
  await fundMarker(op, 'deliver')

  await chain.broadcast(first.raw)
  await world.confirm()
  expect(await moved()).toEqual(nothing)
  expect((await chain.readUndelivered([op], (await actor.look()).head)).has(op.hash)).toBe(true)
  expect(await chain.simulateDelivery(op)).toEqual({ kind: 'ok' })
  const second = await actor.sign('deliver', () => chain.planDelivery([op]))
  await world.confirm()
  const third = await actor.sign('deliver', () => chain.planDelivery([op]))
  for (const { raw } of [second, third, first]) await chain.broadcast(raw)
  await world.confirm()

  expect([first, second, third].map(({ request }) => request.generation)).toEqual([0, 1, 1])
  expect(await moved()).toEqual(paid)
  expect((await actor.find('delivered', op))?.txHash).toBe(second.txHash)
  await world.finalize()
  expect(await chain.readUndelivered([op], (await actor.look()).hard)).toEqual(new Set())
})

test('strangers who fund markers after a delivery do not make it pay again', async () => {
  const swap = await world.newSwap()
  const { op } = swap
  const moved = await actor.watch(swap)
  const { txHash } = await actor.land('deliver', () => chain.planDelivery([op]))

  for (const generation of [0, 1, 2]) await fundMarker(op, 'deliver', generation)

  await expect(chain.planDelivery([op])).rejects.toThrow('was already paid')
  expect(await chain.simulateDelivery(op)).toEqual({ kind: 'notNow' })
  expect((await actor.find('delivered', op))?.txHash).toBe(txHash)
  expect(await moved()).toEqual(paid)
})

test('a stranger who funds the marker of an input prevents it, and the input counts as not taken', async () => {
  const swap = await world.newSwap()
  const moved = await actor.watch(swap)
  await fundMarker(swap.op, 'input')

  expect(await chain.findObstacle(swap)).toBe('INPUT_UNAVAILABLE')
  await actor.lock(swap)
  await world.finalize()

  expect(await moved()).toEqual(nothing)
  expect(await actor.statesOf(swap)).toEqual({ head: 'none', hard: 'none' })
  expect(await actor.find('locked', swap.op)).toBeUndefined()
})

test('a marker without its history proves nothing, and causes no payment', async () => {
  const { op } = await world.newSwap()
  const { rent, dev } = world.solana
  for (const kind of ['input', 'deliver'] as const) {
    // The view of a node whose transaction index is behind its accounts, or was truncated.
    await dev.dev_setAccount(await markerOf(op, kind), { lamports: String(rent.emptyLamports) }).send()
  }
  await world.confirm()

  const heads = await actor.look()
  await expect(chain.readLocks([op], heads.head)).rejects.toThrow('history')
  await expect(chain.readUndelivered([op], heads.head)).rejects.toThrow('history')
  await expect(chain.findDeliveries([{ op }], heads)).rejects.toThrow('history')
  await expect(chain.simulateDelivery(op)).rejects.toThrow('history')
  await expect(chain.planDelivery([op])).rejects.toThrow('history')
})

test('an op whose markers cannot be read is left undecided and reported, and others are read', async () => {
  const [hidden, locked, fresh] = [await world.newSwap(), await world.newSwap(), await world.newSwap()]
  const { rent, dev } = world.solana
  for (const kind of ['input', 'deliver'] as const) {
    const marker = await markerOf(hidden.op, kind)
    await dev.dev_setAccount(marker, { lamports: String(rent.emptyLamports) }).send()
  }
  await actor.lock(locked)
  const paid = await actor.land('deliver', () => chain.planDelivery([locked.op]))
  await world.finalize()
  const heads = await actor.look()
  const ops = [hidden.op, locked.op, fresh.op]
  const faults: unknown[] = []

  const states = await chain.readLocks(ops, heads.hard, faults)
  const deliveries = await chain.findDeliveries(
    ops.map((op) => ({ op })),
    heads,
    faults,
  )
  const undelivered = await chain.readUndelivered(ops, heads.hard, faults)

  expect(states).toEqual(
    new Map([
      [locked.op.hash, 'locked'],
      [fresh.op.hash, 'none'],
    ]),
  )
  expect([...deliveries].map(([hash, { txHash }]) => [hash, txHash])).toEqual([[locked.op.hash, paid.txHash]])
  expect(undelivered).toEqual(new Set([fresh.op.hash]))
  expect(faults).toHaveLength(3)
})

test('a token account that the quote did not charge for is not created', async () => {
  const { op } = await world.newSwap({ input: 'native', output: 'token' })

  expect(await chain.simulateDelivery(op)).toEqual({ kind: 'ok' })
  expect(await chain.simulateDelivery({ ...op, createsAccount: false })).toEqual({ kind: 'recipientRefuses' })
})

test('an input waits in the vault while the wallet’s token account is frozen or closed', async () => {
  const [frozen, closed] = [await world.newSwap(), await world.newSwap()]
  for (const swap of [frozen, closed]) await actor.lock(swap)
  await world.finalize()

  await freeze(world.solana, world.mint, frozen.op.wallet)
  await world.emptyWallet(closed)
  const account = await toTokenAccountAddress({ owner: closed.op.wallet, ...world.mint })
  const closing = { account: account as Address, destination: world.solana.payer.address }
  const owner = world.walletOf(closed)
  await world.solana.run(world.solana.payer, [getCloseAccountInstruction({ ...closing, owner })])

  const moved = await actor.watch(frozen)
  expect(await chain.canRefund(frozen)).toBe(false)
  expect(await chain.canRefund(closed)).toBe(false)
  for (const swap of [frozen, closed]) {
    await actor.land('relay', actor.refunding(swap))
    expect((await actor.statesOf(swap)).head).toBe('locked')
  }
  expect(await moved()).toEqual(nothing)
  await world.solana.give(world.mint, closed.op.wallet, 0n)
  expect(await chain.canRefund(closed)).toBe(true)
})
