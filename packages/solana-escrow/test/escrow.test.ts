import { type Address, getProgramDerivedAddress } from '@solana/kit'
import { describe, expect, it } from 'vitest'
import { findTokenAccount } from '../src/accounts.ts'
import { escrowErrors } from '../src/decode-instruction.ts'
import { claimInstruction, createAccountInstruction, refundInstruction } from '../src/instructions.ts'
import { ASSOCIATED_TOKEN_PROGRAM, isNative, SYSTEM_PROGRAM, toHeldToken } from '../src/terms.ts'
import { tokensOf } from './tokens.ts'
import { bytesOf } from './transaction.ts'
import { AMOUNT, createWorld, DEADLINE, kinds, lock, type World } from './world.ts'

async function claim({ chain, terms, token }: World) {
  return chain.run(await claimInstruction(chain.program, { terms, token }))
}

async function refund({ chain, terms, token }: World, { attested }: { attested: boolean }) {
  return chain.run(await refundInstruction(chain.program, { terms, token, attested }))
}

/** The bump of the address of the input. */
async function bumpOf({ authority, token }: World): Promise<number> {
  const { mint, program } = toHeldToken(token)
  const seeds = [authority, program, mint].map(bytesOf)
  const [, bump] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds })
  return bump
}

/** Sends lamports to an account, as any stranger can. */
function sendLamports({ chain }: World, to: Address, lamports: bigint): void {
  const account = chain.get(to) ?? { lamports: 0n, owner: SYSTEM_PROGRAM, data: new Uint8Array() }
  chain.set(to, { ...account, lamports: account.lamports + lamports })
}

/** Sends tokens of the same kind to the input, as any stranger can. */
function sendTokens({ chain, input, token }: World, amount: bigint): void {
  const account = chain.get(input)
  if (!account) throw new Error('There is no input')
  const data = Uint8Array.from(account.data)
  const view = new DataView(data.buffer)
  view.setBigUint64(64, view.getBigUint64(64, true) + amount, true)
  chain.set(input, { ...account, data, lamports: account.lamports + (isNative(token) ? amount : 0n) })
}

describe.each(kinds)('an input in %s', (kind) => {
  it('is locked by a wallet that pays no more than the input', async () => {
    const world = await createWorld(kind)
    const { chain, terms, token } = world
    const before = (await tokensOf(chain, terms.wallet, token)) ?? 0n

    const outcome = await lock(world)

    expect(outcome.ok).toBe(true)
    expect(await tokensOf(chain, terms.wallet, token)).toBe(before - AMOUNT)
  })

  it('is locked once: the same instructions fail while it lies there', async () => {
    const world = await createWorld(kind)
    await lock(world)

    const again = await lock(world)

    expect(again.ok).toBe(false)
  })

  it('goes to the vault by a claim that the attester signed, and the rent to its payer', async () => {
    const world = await createWorld(kind)
    const { chain, terms, token, input } = world
    const rentBefore = chain.balance(terms.rentReceiver)
    const vaultBefore = (await tokensOf(chain, terms.vault, token)) ?? 0n
    await lock(world)

    const outcome = await claim(world)

    expect(outcome.ok).toBe(true)
    expect(await tokensOf(chain, terms.vault, token)).toBe(vaultBefore + AMOUNT)
    expect(chain.balance(terms.rentReceiver)).toBe(rentBefore)
    expect(chain.get(input)).toBeUndefined()
  })

  it.each([true, false])(
    'goes back to the wallet in full, attested before the deadline: %s',
    async (attested) => {
      const world = await createWorld(kind)
      const { chain, terms, token, input } = world
      const rentBefore = chain.balance(terms.rentReceiver)
      const before = await tokensOf(chain, terms.wallet, token)
      await lock(world)
      if (!attested) chain.setTime(DEADLINE + 1n)

      const outcome = await refund(world, { attested })

      expect(outcome.ok).toBe(true)
      expect(await tokensOf(chain, terms.wallet, token)).toBe(before)
      expect(chain.balance(terms.rentReceiver)).toBe(rentBefore)
      expect(chain.get(input)).toBeUndefined()
    },
  )

  it('is not refunded by anyone until the second after the deadline', async () => {
    const world = await createWorld(kind)
    await lock(world)
    world.chain.setTime(DEADLINE)

    const early = await refund(world, { attested: false })

    expect(early.code).toBe(escrowErrors.TOO_EARLY)
  })

  it('takes tokens that strangers sent along, and gives their lamports to the rent receiver', async () => {
    const world = await createWorld(kind)
    const { chain, terms, token, input, authority } = world
    const rentBefore = chain.balance(terms.rentReceiver)
    const before = (await tokensOf(chain, terms.wallet, token)) ?? 0n
    await lock(world)
    sendTokens(world, 77n)
    sendLamports(world, input, 1_234_567n)
    if (isNative(token)) sendLamports(world, authority, 7_654_321n)

    const outcome = await refund(world, { attested: true })

    expect(outcome.ok).toBe(true)
    expect(await tokensOf(chain, terms.wallet, token)).toBe(before + 77n)
    const gift = isNative(token) ? 1_234_567n + 7_654_321n : 1_234_567n
    expect(chain.balance(terms.rentReceiver)).toBe(rentBefore + gift)
    expect(chain.balance(authority)).toBe(0n)
  })

  it('is paid without its rent where the rent cannot be returned, and the rent follows later', async () => {
    const world = await createWorld(kind)
    const { chain, terms, token, authority } = world
    const rentBefore = chain.balance(terms.rentReceiver)
    const before = await tokensOf(chain, terms.wallet, token)
    await lock(world)
    const call = { terms, token, attested: true }

    const kept = chain.run(await refundInstruction(chain.program, { ...call, keepRent: true }))
    const walletAfter = await tokensOf(chain, terms.wallet, token)
    const create = await createAccountInstruction({ payer: world.payer, owner: authority, token })
    const returned = chain.run(create, await refundInstruction(chain.program, call))

    expect([kept.ok, returned.ok]).toEqual([true, true])
    expect(walletAfter).toBe(before)
    const extra = isNative(token) ? chain.rent(165) : 0n
    expect(chain.balance(terms.rentReceiver)).toBe(rentBefore + extra)
  })

  it('can be refunded when all roles are one address', async () => {
    const world = await createWorld(kind)
    const { wallet } = world.terms
    const one = await createWorld(kind, { wallet, vault: wallet, attester: wallet, rentReceiver: wallet })
    one.chain.fund(wallet, 1_000_000_000n)
    await lock(one)

    const outcome = await refund(one, { attested: true })

    expect(outcome.ok).toBe(true)
    expect(one.chain.get(one.input)).toBeUndefined()
  })

  it('stays within the limits of compute units and bytes', async () => {
    const world = await createWorld(kind)
    const locked = await lock(world)
    const claimed = await claim(world)
    await lock(world)
    const refunded = await refund(world, { attested: true })

    // Each address that the associated token program tries and rejects costs 1,500 units more.
    const tries = 255 - (await bumpOf(world))
    expect(locked.units - 1_500 * tries).toBeLessThanOrEqual(20_000)
    expect(claimed.units).toBeLessThanOrEqual(8_000)
    expect(refunded.units).toBeLessThanOrEqual(8_000)
    expect(Math.max(locked.bytes, claimed.bytes, refunded.bytes)).toBeLessThanOrEqual(1_232)
  })
})

describe('a token account of the wallet that is closed', () => {
  it('is created by whoever refunds', async () => {
    const world = await createWorld('Token')
    const { chain, terms, token, stranger } = world
    await lock(world)
    chain.set(await findTokenAccount(terms.wallet, token), {
      lamports: 0n,
      owner: SYSTEM_PROGRAM,
      data: new Uint8Array(),
    })
    chain.setTime(DEADLINE + 1n)
    const closed = await refund(world, { attested: false })

    const create = await createAccountInstruction({ payer: stranger, owner: terms.wallet, token })
    const refunded = chain.run(
      create,
      await refundInstruction(chain.program, { terms, token, attested: false }),
    )

    expect(closed.code).toBe(escrowErrors.WRONG_DESTINATION)
    expect(refunded.ok).toBe(true)
    expect(await tokensOf(chain, terms.wallet, token)).toBe(AMOUNT)
  })
})
