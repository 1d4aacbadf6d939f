import { AccountRole, type Instruction } from '@solana/kit'
import { describe, expect, it } from 'vitest'
import { findMarker, SWEEP_MARGIN_SECONDS } from '../src/accounts.ts'
import { escrowErrors } from '../src/decode-instruction.ts'
import { deliverInstruction, sweepInstruction } from '../src/instructions.ts'
import { SYSTEM_PROGRAM } from '../src/terms.ts'
import { derive } from './derive.ts'
import { named } from './order.ts'
import { holdTokens, tokensOf } from './tokens.ts'
import { bytesOf } from './transaction.ts'
import { AMOUNT, createWorld, deliver, lock, NOW, ORDER, opId, toDelivery, withAccount } from './world.ts'

describe('a marker', () => {
  it('cannot be made without the signature of the vault, or charged to one who did not sign', async () => {
    const world = await createWorld('Token')
    const delivery = await deliverInstruction(world.chain.program, toDelivery(world))
    const codes = [0, 5].map(
      (index) => world.chain.run(withAccount(delivery, { place: index, role: AccountRole.WRITABLE })).code,
    )

    expect(codes).toEqual([escrowErrors.VAULT_DID_NOT_SIGN, escrowErrors.PAYER_DID_NOT_SIGN])
  })

  it('of another op or another vault is refused', async () => {
    const world = await createWorld('Token')
    const { chain, terms, stranger } = world
    const delivery = await deliverInstruction(chain.program, toDelivery(world))
    const others = [
      await findMarker(chain.program, { vault: terms.vault, opId: opId(2) }),
      await findMarker(chain.program, { vault: stranger, opId: terms.opId }),
    ]

    const codes = others.map(([address]) => chain.run(withAccount(delivery, { place: 6, address })).code)

    expect(codes).toEqual([escrowErrors.WRONG_MARKER, escrowErrors.WRONG_MARKER])
  })

  it('by another bump than the first is refused: one op has one marker', async () => {
    const world = await createWorld('Token')
    const { chain, terms } = world
    await deliver(world)
    const seeds = [bytesOf(terms.vault), Buffer.from(terms.opId.slice(2), 'hex')]
    const [first, address] = derive(chain.program, seeds)
    if (!address) throw new Error('No other bump gives an address')
    const delivery = await deliverInstruction(chain.program, toDelivery(world))

    const again = chain.run(withAccount(delivery, { place: 6, address }))

    expect(first).toBe((await findMarker(chain.program, terms))[0])
    expect(again.code).toBe(escrowErrors.WRONG_MARKER)
  })

  it('that was swept is not made again for the op with another deadline', async () => {
    const world = await createWorld('Token')
    const { chain, payer, terms } = world
    await deliver(world)
    const now = ORDER.fillDeadline + SWEEP_MARGIN_SECONDS + 1n
    chain.setTime(now)
    const [marker] = await findMarker(chain.program, terms)
    const swept = chain.run(sweepInstruction(chain.program, { marker, payer }))
    const later = { ...toDelivery(world), order: { ...ORDER, fillDeadline: now + 100n } }

    const again = chain.run(await deliverInstruction(chain.program, later))

    expect([swept.ok, again.code]).toEqual([true, escrowErrors.WRONG_OP])
    expect(await tokensOf(chain, world.recipient, world.token)).toBe(100_000_000n + AMOUNT)
  })

  it('is made for nothing but what the wallet signed', async () => {
    const world = await createWorld('Token')
    const { chain, token, stranger } = world
    const right = toDelivery(world)
    const wrong = [
      { ...right, recipient: stranger },
      ...[{ ring: opId(5) }, { index: 9n }, { destinationChain: 9n }, { minOutput: 1n }].map((change) => ({
        ...right,
        order: { ...ORDER, ...change },
      })),
    ]
    await holdTokens(chain, { owner: stranger, token, amount: 0n })

    const codes = await Promise.all(
      wrong.map(async (delivery) => chain.run(await deliverInstruction(chain.program, delivery)).code),
    )

    expect(codes).toEqual(wrong.map(() => escrowErrors.WRONG_OP))
  })

  it.each([AMOUNT + 1n, 1n << 64n, 1n << 128n, 1n << 192n])(
    'is not made for less than the least amount of %i',
    async (minOutput) => {
      const world = await createWorld('Token')
      const delivery = named({ ...toDelivery(world), order: { ...ORDER, minOutput } })

      const outcome = world.chain.run(await deliverInstruction(world.chain.program, delivery))

      expect(outcome.code).toBe(escrowErrors.TOO_LITTLE)
    },
  )

  it('is made once for two deliveries in one transaction, which fails', async () => {
    const world = await createWorld('Token')
    const delivery = await deliverInstruction(world.chain.program, toDelivery(world))

    const outcome = world.chain.run(delivery, delivery)

    expect(outcome.code).toBe(escrowErrors.ALREADY_DELIVERED)
    expect(await tokensOf(world.chain, world.recipient, world.token)).toBe(100_000_000n)
  })

  it('that is swept and paid again in one transaction is still a marker, and is swept again', async () => {
    const world = await createWorld('Token')
    const { chain, payer } = world
    await deliver(world)
    const [marker] = await findMarker(chain.program, world.terms)
    chain.setTime(NOW + 10n ** 6n)
    const sweep = sweepInstruction(chain.program, { marker, payer })
    const gift: Instruction = {
      programAddress: SYSTEM_PROGRAM,
      accounts: [
        { address: world.stranger, role: AccountRole.WRITABLE_SIGNER },
        { address: marker, role: AccountRole.WRITABLE },
      ],
      data: Uint8Array.of(2, 0, 0, 0, ...new Uint8Array(new BigUint64Array([chain.rent(112)]).buffer)),
    }

    const revived = chain.run(sweep, gift)
    const again = await deliver(world)
    const swept = chain.run(sweep)

    expect([revived.ok, again.code, swept.ok]).toEqual([true, escrowErrors.TOO_LATE, true])
    expect(chain.get(marker)).toBeUndefined()
  })

  it('that is an account of another program is not swept', async () => {
    const world = await createWorld('Token')
    await lock(world)

    const outcome = world.chain.run(
      sweepInstruction(world.chain.program, { marker: world.input, payer: world.stranger }),
    )

    expect(outcome.code).toBe(escrowErrors.NOT_A_MARKER)
  })
})
