import { describe, expect, it } from 'vitest'
import { decodeMarker, findMarker, MARKER_BYTES, SWEEP_MARGIN_SECONDS } from '../src/accounts.ts'
import { escrowErrors } from '../src/decode-instruction.ts'
import { createAccountInstruction, deliverInstruction, sweepInstruction } from '../src/instructions.ts'
import { newAddress } from './chain.ts'
import { named } from './order.ts'
import { tokensOf } from './tokens.ts'
import { AMOUNT, createWorld, DEADLINE, deliver, kinds, ORDER, toDelivery, type World } from './world.ts'

async function markerOf({ chain, terms }: World) {
  const [marker] = await findMarker(chain.program, terms)
  return marker
}

async function readMarker(world: World) {
  const account = world.chain.get(await markerOf(world))
  return account && decodeMarker(world.chain.program, { programAddress: account.owner, data: account.data })
}

async function sweep(world: World, payer = world.payer) {
  const { chain } = world
  return chain.run(sweepInstruction(chain.program, { marker: await markerOf(world), payer }))
}

describe.each(kinds)('a delivery in %s', (kind) => {
  it('pays the recipient and leaves a marker of what it paid to whom', async () => {
    const world = await createWorld(kind)
    const { chain, token, terms, payer, recipient } = world
    const before = (await tokensOf(chain, recipient, token)) ?? 0n
    const vaultBefore = (await tokensOf(chain, terms.vault, token)) ?? 0n

    const outcome = await deliver(world)

    expect(outcome.ok).toBe(true)
    expect(await tokensOf(chain, recipient, token)).toBe(before + AMOUNT)
    expect(await tokensOf(chain, terms.vault, token)).toBe(vaultBefore - AMOUNT)
    const record = { payer, fillDeadline: DEADLINE, amount: AMOUNT, mint: token.mint, recipient }
    expect(await readMarker(world)).toEqual(record)
  })

  it('happens once', async () => {
    const world = await createWorld(kind)
    await deliver(world)

    const again = await deliver(world)

    expect(again.code).toBe(escrowErrors.ALREADY_DELIVERED)
  })

  it('happens until its deadline, and not a second later', async () => {
    const world = await createWorld(kind)
    world.chain.setTime(DEADLINE + 1n)
    const late = await deliver(world)
    world.chain.setTime(DEADLINE)

    const inTime = await deliver(world)

    expect(late.code).toBe(escrowErrors.TOO_LATE)
    expect(inTime.ok).toBe(true)
  })

  it.each([1n, 1_000_000n, 10_000_000n])(
    'does not mind %i lamports at the address of its marker',
    async (gift) => {
      const world = await createWorld(kind)
      const { chain, payer } = world
      const before = chain.balance(payer)
      chain.fund(await markerOf(world), gift)

      const outcome = await deliver(world)

      const rent = chain.rent(MARKER_BYTES)
      expect(outcome.ok).toBe(true)
      expect(chain.balance(payer)).toBe(before - (gift < rent ? rent - gift : 0n))
    },
  )

  it('gives all lamports of its marker back to the payer after the margin, to nobody else and not before', async () => {
    const world = await createWorld(kind)
    const { chain, payer, stranger } = world
    const before = chain.balance(payer)
    await deliver(world)
    chain.setTime(DEADLINE + SWEEP_MARGIN_SECONDS)
    const early = await sweep(world)
    chain.setTime(DEADLINE + SWEEP_MARGIN_SECONDS + 1n)
    const elsewhere = await sweep(world, stranger)

    const swept = await sweep(world)

    expect(early.code).toBe(escrowErrors.NOT_SWEEPABLE)
    expect(elsewhere.code).toBe(escrowErrors.WRONG_PAYER)
    expect(swept.ok).toBe(true)
    expect(chain.balance(payer)).toBe(before)
    expect(chain.get(await markerOf(world))).toBeUndefined()
  })

  it('cannot be repeated after the sweep, since its deadline has passed', async () => {
    const world = await createWorld(kind)
    await deliver(world)
    world.chain.setTime(DEADLINE + SWEEP_MARGIN_SECONDS + 1n)
    await sweep(world)

    const again = await deliver(world)

    expect(again.code).toBe(escrowErrors.TOO_LATE)
  })

  it('fails as a whole if the vault holds too little: no marker, no rent', async () => {
    const world = await createWorld(kind)
    const { chain, payer } = world
    const before = chain.balance(payer)

    const outcome = await deliver(world, { amount: 10n ** 15n })

    expect(outcome.ok).toBe(false)
    expect(await readMarker(world)).toBeUndefined()
    expect(chain.balance(payer)).toBe(before)
  })

  it('stays within the limits of compute units and bytes', async () => {
    const world = await createWorld(kind)

    const outcome = await deliver(world)

    expect(outcome.units).toBeLessThanOrEqual(20_000)
    expect(outcome.bytes).toBeLessThanOrEqual(1_232)
  })
})

describe('a delivery to a recipient without a token account', () => {
  it('creates it first, in the same transaction', async () => {
    const world = await createWorld('Token')
    const { chain, token, payer } = world
    const recipient = newAddress()

    const create = await createAccountInstruction({ payer, owner: recipient, token })
    const pay = await deliverInstruction(chain.program, named({ ...toDelivery(world), recipient }))
    const outcome = chain.run(create, pay)

    expect(outcome.ok).toBe(true)
    expect(outcome.bytes).toBeLessThanOrEqual(1_232)
    expect(await tokensOf(chain, recipient, token)).toBe(AMOUNT)
  })
})

describe('two deliveries', () => {
  it('of two ops have two markers', async () => {
    const world = await createWorld('Token')

    const outcomes = [await deliver(world), await deliver(world, { order: { ...ORDER, index: 4n } })]

    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true])
  })

  it('of one op by two vaults have two markers: a stranger cannot deliver in the name of the vault', async () => {
    const world = await createWorld('Token')

    const first = await deliver(world, { vault: world.stranger })
    const second = await deliver(world)

    expect([first.ok, second.ok]).toEqual([true, true])
    expect((await readMarker(world))?.recipient).toBe(world.recipient)
  })
})
