import { generateKeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MARKER_KEY, SOL, type SolanaWorld, startSolanaWorld } from '../../../test/support/solana.ts'
import type { SolanaClient } from './client.ts'
import { createMarkerBook, type MarkerRef } from './marker-book.ts'
import { NATIVE_TOKEN } from './mint.ts'
import { buildPayment } from './payment.ts'

const FINALIZED_SLOTS = 32
const CONFIRMED = { commitment: 'confirmed' } as const

let world: SolanaWorld
let strange: string
beforeAll(async () => {
  world = await startSolanaWorld()
  const gift = { source: world.payer, destination: world.payer.address, amount: 1n }
  strange = await world.run(world.payer, [getTransferSolInstruction(gift)])
})
afterAll(() => world.chain.stop())

// Markers that strangers named in more transactions than can be read, and the record.
const spammed = new Set<string>()
const signed = new Map<string, string[]>()
let memo: string | null = null
let pagesRead = 0
let transactionsRead = 0
beforeEach(() => {
  memo = null
  pagesRead = 0
  transactionsRead = 0
  signed.clear()
})

let ops = 0
function newOp(): string {
  ops += 1
  return ops.toString(16).padStart(64, '0')
}

const deliveryOf = (id: string): MarkerRef => ({ kind: 'deliver', id, base: world.authority.address })

async function sign(opHash: string, generation = 0) {
  const { address: to } = await generateKeyPairSigner()
  return buildPayment(
    world.vault,
    await world.payment({ to, token: NATIVE_TOKEN, amount: SOL, opHash, generation }),
  )
}

async function pay(opHash: string, generation = 0) {
  const paid = await sign(opHash, generation)
  await world.land(paid.raw)
  return paid
}

const fund = (address: string) => world.send(address, world.rent.emptyLamports)

/** Any transaction that is not ours. */
function spamPage() {
  pagesRead += 1
  return Array.from({ length: 1_000 }, () => ({ signature: strange, slot: 9n, err: null, memo }))
}

/** Honest nodes, with the spammed histories. */
function nodes(): SolanaClient {
  const { rpc } = world.client
  const asked = {
    getSignaturesForAddress: (...args: Parameters<typeof rpc.getSignaturesForAddress>) =>
      spammed.has(args[0]) ? { send: async () => spamPage() } : rpc.getSignaturesForAddress(...args),
    getTransaction: (...args: Parameters<typeof rpc.getTransaction>) => {
      transactionsRead += 1
      return rpc.getTransaction(...args)
    },
  }
  const get = (target: object, name: string) => Reflect.get(name in asked ? asked : target, name)
  return { ...world.client, rpc: new Proxy(rpc, { get }) as typeof rpc }
}

const openBook = () => createMarkerBook(nodes(), MARKER_KEY, async () => signed)

async function find(id: string, commitment: 'confirmed' | 'finalized' = 'confirmed') {
  const ref = deliveryOf(id)
  return (await openBook().findCreations([ref], { commitment })).get(ref)?.txHash
}

test('a recorded payment is found, however many transactions of strangers name its marker', async () => {
  const op = newOp()
  const paid = await pay(op)
  spammed.add(paid.marker.address)

  await expect(find(op)).rejects.toThrow('does not end')
  signed.set(op, ['never landed', paid.txHash])

  expect(await find(op)).toBe(paid.txHash)
  expect(await openBook().nextGeneration(deliveryOf(op))).toBeUndefined()
})

test('a recorded payment is found while the marker of an earlier try cannot be read', async () => {
  const op = newOp()
  const dead = await sign(op)
  await fund(dead.marker.address)
  await world.land(dead.raw)
  const paid = await pay(op, 1)
  spammed.add(dead.marker.address)
  signed.set(op, [dead.txHash, paid.txHash])

  expect(await find(op)).toBe(paid.txHash)
})

test('a recorded transaction counts as a payment only by its own content', async () => {
  const [op, other] = [newOp(), newOp()]
  const failed = await sign(op)
  await fund(failed.marker.address)
  await world.land(failed.raw)
  const ofAnother = await pay(other)
  signed.set(op, [failed.txHash, ofAnother.txHash])

  expect(await find(op)).toBeUndefined()
  expect(await openBook().nextGeneration(deliveryOf(op))).toBe(1)
  spammed.add(failed.marker.address)
  await expect(find(op)).rejects.toThrow('does not end')
})

test('an unrecorded payment is found by the history of its marker', async () => {
  const op = newOp()
  const paid = await pay(op)
  signed.set(op, ['never landed'])

  expect(await find(op)).toBe(paid.txHash)
})

test('a recorded payment is not final before its transaction is', async () => {
  const op = newOp()
  const paid = await sign(op)
  signed.set(op, [paid.txHash])
  await fund(paid.marker.address)
  await world.advance(FINALIZED_SLOTS)
  spammed.add(paid.marker.address)
  const later = await pay(op, 1)
  signed.set(op, [later.txHash])
  const book = openBook()
  const ref = deliveryOf(op)

  expect((await book.findCreations([ref], CONFIRMED)).get(ref)?.txHash).toBe(later.txHash)
  await expect(book.findCreations([ref], { commitment: 'finalized' })).rejects.toThrow('does not end')
  await world.advance(FINALIZED_SLOTS)
  const final = await openBook().findCreations([ref], { commitment: 'finalized' })
  expect(final.get(ref)?.txHash).toBe(later.txHash)
})

test('a marker that cannot be read leaves only its own payment undecided', async () => {
  const [hidden, paid, unpaid] = [newOp(), newOp(), newOp()]
  spammed.add((await pay(hidden)).marker.address)
  const { txHash } = await pay(paid)
  const refs = [hidden, paid, unpaid].map(deliveryOf)
  const faults: unknown[] = []

  const found = await openBook().findCreations(refs, CONFIRMED, faults)

  expect([...found].map(([ref, creation]) => [ref.id, creation?.txHash]).sort()).toEqual([
    [paid, txHash],
    [unpaid, undefined],
  ])
  expect(faults).toMatchObject([{ message: expect.stringContaining('does not end') }])
})

test('a history above the limit is not read again at once', async () => {
  const op = newOp()
  spammed.add((await pay(op)).marker.address)
  const book = openBook()
  const look = () => book.findCreations([deliveryOf(op)], CONFIRMED)

  await expect(look()).rejects.toThrow('does not end')
  const first = pagesRead
  await expect(look()).rejects.toThrow('does not end')

  expect([first, pagesRead]).toEqual([20, 20])
})

test("of strangers' transactions with the memo of an op only a limited number is read", async () => {
  const op = newOp()
  spammed.add((await pay(op)).marker.address)
  memo = `[64] ${op}`

  await expect(find(op)).rejects.toThrow('does not end')

  expect(transactionsRead).toBe(100)
})
