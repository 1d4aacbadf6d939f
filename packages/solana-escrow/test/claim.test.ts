import { AccountRole, type Address } from '@solana/kit'
import { describe, expect, it } from 'vitest'
import { findTokenAccount } from '../src/accounts.ts'
import { escrowErrors } from '../src/decode-instruction.ts'
import { claimInstruction, refundInstruction } from '../src/instructions.ts'
import { isNative, NATIVE_TOKEN } from '../src/terms.ts'
import { tokensOf } from './tokens.ts'
import { AMOUNT, createWorld, DEADLINE, kinds, lock, type World, withAccount } from './world.ts'

/** Changes what the input's account holds, as a stranger does by a transfer. */
function addToInput({ chain, input, token }: World, amount: bigint): void {
  const account = chain.get(input)
  if (!account) throw new Error('There is no input')
  const data = Uint8Array.from(account.data)
  const view = new DataView(data.buffer)
  view.setBigUint64(64, view.getBigUint64(64, true) + amount, true)
  chain.set(input, { ...account, data, lamports: account.lamports + (isNative(token) ? amount : 0n) })
}

async function claim({ chain, terms, token }: World, keepRent = false) {
  return chain.run(await claimInstruction(chain.program, { terms, token, keepRent }))
}

const held = async ({ chain, token }: World, owner: Address) => (await tokensOf(chain, owner, token)) ?? 0n

describe.each(kinds)('a claim of %s', (kind) => {
  it('pays the vault the amount that the wallet signed, and the wallet what somebody added', async () => {
    const world = await createWorld(kind)
    const { chain, terms, input } = world
    const rentBefore = chain.balance(terms.rentReceiver)
    const vaultBefore = await held(world, terms.vault)
    await lock(world)
    const walletBefore = await held(world, terms.wallet)
    addToInput(world, 77n)

    const outcome = await claim(world)

    expect(outcome.ok).toBe(true)
    expect(await held(world, terms.vault)).toBe(vaultBefore + AMOUNT)
    expect(await held(world, terms.wallet)).toBe(walletBefore + 77n)
    expect(chain.balance(terms.rentReceiver)).toBe(rentBefore)
    expect(chain.get(input)).toBeUndefined()
  })

  it('sends what somebody added to nobody but the wallet', async () => {
    const world = await createWorld(kind)
    const { chain, terms, token, stranger } = world
    await lock(world)
    addToInput(world, 77n)
    const own = token === NATIVE_TOKEN ? stranger : await findTokenAccount(stranger, token)

    const outcome = chain.run(
      withAccount(await claimInstruction(chain.program, { terms, token }), { place: 7, address: own }),
    )

    expect(outcome.code).toBe(escrowErrors.WRONG_DESTINATION)
  })

  it('takes nothing where there is less than the amount, not even from the rent', async () => {
    const world = await createWorld(kind)
    const { chain, terms, input } = world
    await lock(world)
    addToInput(world, -1n)
    const vaultBefore = await held(world, terms.vault)

    const outcome = await claim(world)

    expect(outcome.ok).toBe(false)
    expect(await held(world, terms.vault)).toBe(vaultBefore)
    expect(chain.get(input)).toBeDefined()
  })
})

describe('a wallet that closes its token account', () => {
  it('stops no claim, as long as there is no more than the amount', async () => {
    const world = await createWorld('Token')
    const { chain, terms, token } = world
    await lock(world)
    chain.fund(await findTokenAccount(terms.wallet, token), 0n)

    expect((await claim(world)).ok).toBe(true)
  })

  it('and adds to its input stops no claim that leaves the rest, which a refund returns with the rent', async () => {
    const world = await createWorld('Token')
    const { chain, terms, token } = world
    const rentBefore = chain.balance(terms.rentReceiver)
    await lock(world)
    addToInput(world, 1n)
    const account = await findTokenAccount(terms.wallet, token)
    const open = chain.get(account)
    if (!open) throw new Error('The wallet has no account')
    chain.fund(account, 0n)

    const closing = await claim(world)
    const leaving = await claim(world, true)
    chain.set(account, open)
    chain.setTime(DEADLINE + 1n)
    const rest = chain.run(await refundInstruction(chain.program, { terms, token, attested: false }))

    expect([closing.code, leaving.ok, rest.ok]).toEqual([escrowErrors.WRONG_DESTINATION, true, true])
    expect(await held(world, terms.vault)).toBe(100_000_000n + AMOUNT)
    expect(chain.balance(terms.rentReceiver)).toBe(rentBefore)
  })
})

describe.each(kinds)('the rent of an input of %s', (kind) => {
  it('is not kept by a stranger who refunds after the deadline', async () => {
    const world = await createWorld(kind)
    const { chain, terms, token, stranger } = world
    await lock(world)
    chain.setTime(DEADLINE + 1n)
    const refund = await refundInstruction(chain.program, { terms, token, attested: false, keepRent: true })
    const forged = [
      { place: 6, role: AccountRole.READONLY },
      { place: 6, address: terms.attester, role: AccountRole.READONLY },
      { place: 6, address: stranger, role: AccountRole.READONLY_SIGNER },
    ]

    const codes = forged.map((change) => chain.run(withAccount(refund, change)).code)

    expect(codes).toEqual(forged.map(() => escrowErrors.RENT_KEPT_UNSIGNED))
  })

  it('is kept by the wallet, which signs, after the deadline and not before', async () => {
    const world = await createWorld(kind)
    const { chain, terms, token } = world
    await lock(world)
    const refund = await refundInstruction(chain.program, { terms, token, attested: false, keepRent: true })
    chain.setTime(DEADLINE)
    const early = chain.run(refund)
    chain.setTime(DEADLINE + 1n)
    const late = chain.run(refund)

    expect([early.code, late.ok]).toEqual([escrowErrors.TOO_EARLY, true])
  })
})
