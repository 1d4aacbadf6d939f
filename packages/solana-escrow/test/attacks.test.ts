import { assemble } from '@geoswap/sbpf'
import { AccountRole } from '@solana/kit'
import { describe, expect, it } from 'vitest'
import { findAuthority, findTokenAccount } from '../src/accounts.ts'
import { escrowErrors } from '../src/decode-instruction.ts'
import {
  claimInstruction,
  deliverInstruction,
  lockInstructions,
  refundInstruction,
} from '../src/instructions.ts'
import { NATIVE_TOKEN, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../src/terms.ts'
import { newAddress } from './chain.ts'
import { createMint, holdTokens, tokenAccountData, tokensOf } from './tokens.ts'
import { bytesOf } from './transaction.ts'
import {
  AMOUNT,
  createWorld,
  DEADLINE,
  kinds,
  lock,
  opId,
  toDelivery,
  type World,
  withAccount,
} from './world.ts'

const place = {
  authority: 0,
  source: 1,
  destination: 2,
  mint: 3,
  tokenProgram: 4,
  rentReceiver: 5,
  attester: 6,
}

async function lateRefund({ chain, terms, token }: World) {
  chain.setTime(DEADLINE + 1n)
  return refundInstruction(chain.program, { terms, token, attested: false })
}

async function isUntouched({ chain, input, terms, token }: World): Promise<boolean> {
  return chain.get(input) !== undefined && (await tokensOf(chain, terms.wallet, token)) === 60_000_000n
}

async function createLocked(kind: (typeof kinds)[number] = 'Token', change = {}): Promise<World> {
  const world = await createWorld(kind, change)
  await lock(world)
  return world
}

describe('a token program of the attacker', () => {
  it.each(kinds)(
    'is refused for a late refund of %s, though it would take the signature of the authority',
    async (kind) => {
      const world = await createLocked(kind)
      const fake = newAddress()
      world.chain.svm.addProgram(bytesOf(fake), assemble('entrypoint:\n  mov64 r0, 0\n  exit').elf)
      const refund = await lateRefund(world)

      const outcome = world.chain.run(withAccount(refund, { place: place.tokenProgram, address: fake }))

      expect(outcome.code).toBe(escrowErrors.WRONG_TOKEN_PROGRAM)
      expect(await isUntouched(world)).toBe(true)
    },
  )

  it('is refused for a delivery: a marker means that a real token program paid', async () => {
    const world = await createWorld('Token')
    const fake = newAddress()
    world.chain.svm.addProgram(bytesOf(fake), assemble('entrypoint:\n  mov64 r0, 0\n  exit').elf)
    const delivery = await deliverInstruction(world.chain.program, toDelivery(world))

    const outcome = world.chain.run(withAccount(delivery, { place: place.tokenProgram, address: fake }))

    expect(outcome.code).toBe(escrowErrors.WRONG_TOKEN_PROGRAM)
  })

  it('is refused when it is the program itself or the System program', async () => {
    const world = await createLocked()
    const refund = await lateRefund(world)

    const codes = [world.chain.program, SYSTEM_PROGRAM].map(
      (address) => world.chain.run(withAccount(refund, { place: place.tokenProgram, address })).code,
    )

    expect(codes).toEqual([escrowErrors.WRONG_TOKEN_PROGRAM, escrowErrors.WRONG_TOKEN_PROGRAM])
  })

  it('does not pass as the other token program, which does not own the input', async () => {
    const world = await createLocked('Token')
    const refund = await lateRefund(world)

    const outcome = world.chain.run(
      withAccount(refund, { place: place.tokenProgram, address: TOKEN_2022_PROGRAM }),
    )

    expect(outcome.code).toBe(escrowErrors.WRONG_SOURCE)
  })
})

describe.each(kinds)('with %s, an attacker who names another account', (kind) => {
  it('as destination of a late refund gets nothing', async () => {
    const world = await createLocked(kind)
    const { chain, token, stranger } = world
    const own = token === NATIVE_TOKEN ? stranger : await findTokenAccount(stranger, token)

    const outcome = chain.run(
      withAccount(await lateRefund(world), { place: place.destination, address: own }),
    )

    expect(outcome.code).toBe(escrowErrors.WRONG_DESTINATION)
    expect(await isUntouched(world)).toBe(true)
  })

  it('as receiver of the rent gets nothing', async () => {
    const world = await createLocked(kind)
    const change = { place: place.rentReceiver, address: world.stranger }

    const outcome = world.chain.run(withAccount(await lateRefund(world), change))

    expect(outcome.code).toBe(escrowErrors.WRONG_RENT_RECEIVER)
  })

  it('as attester changes nothing, signed or not', async () => {
    const world = await createLocked(kind)
    const { chain, terms, token, stranger } = world
    const claim = await claimInstruction(chain.program, { terms, token })
    const refund = await refundInstruction(chain.program, { terms, token, attested: true })
    const other = { place: place.attester, address: stranger, role: AccountRole.READONLY_SIGNER }

    expect(chain.run(withAccount(claim, other)).code).toBe(escrowErrors.NOT_ATTESTED)
    expect(chain.run(withAccount(refund, other)).code).toBe(escrowErrors.TOO_EARLY)
    expect(await isUntouched(world)).toBe(true)
  })

  it('or the true attester without its signature claims nothing', async () => {
    const world = await createLocked(kind)
    const { chain, terms, token } = world
    const claim = await claimInstruction(chain.program, { terms, token })
    const unsigned = { place: place.attester, role: AccountRole.READONLY }
    chain.setTime(DEADLINE + 1n)

    expect(chain.run(withAccount(claim, unsigned)).code).toBe(escrowErrors.NOT_ATTESTED)
  })

  it('as authority, of its own terms, does not reach the input', async () => {
    const world = await createLocked(kind)
    const { chain, terms, token, stranger } = world
    const own = { ...terms, wallet: stranger, attester: stranger }
    const [authority] = await findAuthority(chain.program, own)
    const refund = await refundInstruction(chain.program, { terms: own, token, attested: true })
    const swapped = withAccount(refund, { place: place.source, address: world.input })

    expect(chain.run(swapped).code).toBe(escrowErrors.WRONG_SOURCE)
    const forged = withAccount(swapped, { place: place.authority, address: world.authority })
    expect(chain.run(forged).code).toBe(escrowErrors.WRONG_AUTHORITY)
    expect(authority).not.toBe(world.authority)
  })

  it('cannot change a bit of the terms', async () => {
    const world = await createLocked(kind)
    const refund = await lateRefund(world)
    const data = refund.data ?? new Uint8Array()

    const codes = Array.from({ length: 177 }, (_, index) => {
      const changed = Uint8Array.from(data)
      changed[index + 1] = (changed[index + 1] ?? 0) ^ 1
      return world.chain.run({ ...refund, data: changed }).code
    })

    expect(new Set(codes)).toEqual(new Set([escrowErrors.WRONG_AUTHORITY]))
  })

  it('cannot take the input of one op by the terms of another, both in one transaction', async () => {
    const world = await createLocked(kind)
    const { chain, terms, token } = world
    const other = { ...terms, opId: opId(2), amount: 1_000_000n }
    const payer = terms.rentReceiver
    chain.run(...(await lockInstructions(chain.program, { terms: other, token, payer })))
    const first = await refundInstruction(chain.program, { terms, token, attested: true })
    const second = await refundInstruction(chain.program, { terms: other, token, attested: true })
    const crossed = withAccount(second, { place: place.source, address: world.input })

    const attack = chain.run(first, crossed)
    const honest = chain.run(first, second)

    expect(attack.code).toBe(escrowErrors.WRONG_SOURCE)
    expect(honest.ok).toBe(true)
    expect(await tokensOf(chain, terms.wallet, token)).toBe(100_000_000n)
  })

  it('cannot repeat a refund, in the same transaction or later', async () => {
    const world = await createLocked(kind)
    const refund = await lateRefund(world)

    const twice = world.chain.run(refund, refund)
    const once = world.chain.run(refund)
    const later = world.chain.run(refund)

    expect([twice.code, once.ok, later.code]).toEqual([
      escrowErrors.WRONG_SOURCE,
      true,
      escrowErrors.WRONG_SOURCE,
    ])
  })
})

describe('the source of a refund', () => {
  it('with another mint named is refused by the token program', async () => {
    const world = await createLocked()
    const other = createMint(world.chain, TOKEN_PROGRAM)

    const outcome = world.chain.run(
      withAccount(await lateRefund(world), { place: place.mint, address: other.mint }),
    )

    expect(outcome.ok).toBe(false)
    expect(await isUntouched(world)).toBe(true)
  })

  it('cannot be paid to an account of the wallet in another mint', async () => {
    const world = await createLocked()
    const { chain, terms } = world
    const other = createMint(chain, TOKEN_PROGRAM)
    const address = await holdTokens(chain, { owner: terms.wallet, token: other, amount: 0n })

    const outcome = chain.run(withAccount(await lateRefund(world), { place: place.destination, address }))

    expect(outcome.ok).toBe(false)
    expect(await isUntouched(world)).toBe(true)
  })

  it('that is frozen stays, and is refunded once it is thawed', async () => {
    const world = await createLocked()
    const { chain, input } = world
    const account = chain.get(input)
    if (!account) throw new Error('There is no input')
    chain.set(input, { ...account, data: Uint8Array.from(account.data).fill(2, 108, 109) })
    const refund = await lateRefund(world)

    const frozen = chain.run(refund)
    chain.set(input, account)
    const thawed = chain.run(refund)

    expect([frozen.ok, thawed.ok]).toEqual([false, true])
  })

  it('that was closed and opened again holds what it holds now, and goes to the same wallet', async () => {
    const world = await createLocked()
    const { chain, terms, token } = world
    const refund = await lateRefund(world)
    chain.run(refund)
    await lock(world)

    const outcome = chain.run(refund)

    expect(outcome.ok).toBe(true)
    expect(await tokensOf(chain, terms.wallet, token)).toBe(100_000_000n)
  })

  it('with bytes of a token account, but of another program, is refused', async () => {
    const world = await createLocked()
    const { chain, token, authority } = world
    const forged = newAddress()
    const data = tokenAccountData({ mint: token.mint, owner: authority, amount: 1n })
    chain.set(forged, { lamports: 10_000_000n, owner: chain.program, data })

    const outcome = chain.run(withAccount(await lateRefund(world), { place: place.source, address: forged }))

    expect(outcome.code).toBe(escrowErrors.WRONG_SOURCE)
  })

  it('named in every place at once is refused', async () => {
    const world = await createLocked()
    const refund = await lateRefund(world)
    const accounts = (refund.accounts ?? []).map(({ role }) => ({ address: world.input, role }))

    expect(world.chain.run({ ...refund, accounts }).code).toBe(escrowErrors.WRONG_AUTHORITY)
  })

  it('as its own destination is refused', async () => {
    const world = await createLocked()
    const change = { place: place.destination, address: world.input }

    const outcome = world.chain.run(withAccount(await lateRefund(world), change))

    expect(outcome.code).toBe(escrowErrors.WRONG_DESTINATION)
  })
})

describe('a late refund to an account of the wallet that an attacker prepared', () => {
  it('leaves the attacker nothing: the right to close an account is none to its tokens', async () => {
    const world = await createLocked()
    const { chain, terms, token, stranger } = world
    const prepared = newAddress()
    const data = tokenAccountData({ mint: token.mint, owner: terms.wallet, amount: 0n })
    data[129] = 1
    data.set(bytesOf(stranger), 133)
    chain.set(prepared, { lamports: chain.rent(165), owner: token.program, data })
    chain.run(withAccount(await lateRefund(world), { place: place.destination, address: prepared }))

    const close = chain.run({
      programAddress: token.program,
      accounts: [
        { address: prepared, role: AccountRole.WRITABLE },
        { address: stranger, role: AccountRole.WRITABLE },
        { address: stranger, role: AccountRole.READONLY_SIGNER },
      ],
      data: Uint8Array.of(9),
    })

    expect(close.ok).toBe(false)
    const held = chain.get(prepared)?.data
    expect(held && new DataView(held.buffer, held.byteOffset).getBigUint64(64, true)).toBe(AMOUNT)
  })
})

describe('a refund of SOL to a wallet that gave all it had', () => {
  it('waits for the rent minimum if the input is below it, and anyone can add that', async () => {
    const world = await createWorld('SOL', { amount: 500_000n })
    const { chain, terms } = world
    await lock(world)
    chain.fund(terms.wallet, 0n)
    const refund = await lateRefund(world)

    const small = chain.run(refund)
    chain.fund(terms.wallet, 890_880n)
    const paid = chain.run(refund)

    expect([small.ok, paid.ok]).toEqual([false, true])
    expect(chain.balance(terms.wallet)).toBe(890_880n + 500_000n)
  })
})

describe('a rent receiver that cannot receive', () => {
  it.each(kinds)('does not stop a refund of %s', async (kind) => {
    // The chain lets nobody write the account of a builtin program.
    const world = await createWorld(kind, { rentReceiver: SYSTEM_PROGRAM })
    const { chain, terms, token, payer } = world
    chain.run(...(await lockInstructions(chain.program, { terms, token, payer })))
    chain.setTime(DEADLINE + 1n)
    const call = { terms, token, attested: false }

    const closing = chain.run(await refundInstruction(chain.program, call))
    const paying = chain.run(await refundInstruction(chain.program, { ...call, keepRent: true }))

    expect([closing.ok, paying.ok]).toEqual([false, true])
    expect(await tokensOf(chain, terms.wallet, token)).toBe(100_000_000n)
  })
})
