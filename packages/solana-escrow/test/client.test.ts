import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemble } from '@geoswap/sbpf'
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { describe, expect, it } from 'vitest'
import {
  decodeInputAccount,
  decodeMarker,
  findAuthority,
  findInputAccount,
  findMarker,
  findTokenAccount,
  isSweepable,
  MARKER_BYTES,
  SWEEP_MARGIN_SECONDS,
} from '../src/accounts.ts'
import {
  decodeEscrowInstruction,
  decodeTerms,
  escrowErrors,
  findEscrowError,
} from '../src/decode-instruction.ts'
import {
  claimInstruction,
  deliverInstruction,
  refundInstruction,
  sweepInstruction,
} from '../src/instructions.ts'
import { ESCROW_PROGRAM_HASH, escrowProgram } from '../src/program.gen.ts'
import {
  encodeTerms,
  NATIVE_TOKEN,
  type OpId,
  SYSTEM_PROGRAM,
  type Terms,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../src/terms.ts'
import { newAddress } from './chain.ts'
import { tokenAccountData } from './tokens.ts'
import { bytesOf, compileUnsigned } from './transaction.ts'
import { ORDER, opId } from './world.ts'

const program = newAddress()
const token = { mint: newAddress(), program: TOKEN_PROGRAM, decimals: 6 }
const terms: Terms = {
  ...{ wallet: newAddress(), vault: newAddress(), attester: newAddress(), rentReceiver: newAddress() },
  opId: opId(258),
  refundDeadline: -2n,
  amount: 513n,
}

function raw({ accounts, data }: { accounts: readonly { address: Address }[]; data: Uint8Array }) {
  return { accounts: accounts.map(({ address }) => address), data }
}

describe('terms', () => {
  it('are four addresses, the op id, the deadline as a signed number and the amount, in 176 bytes', () => {
    const bytes = Buffer.from(encodeTerms(terms))

    expect(bytes.length).toBe(176)
    expect(bytes.subarray(96, 128).equals(bytesOf(terms.rentReceiver))).toBe(true)
    expect(bytes.subarray(128, 160).toString('hex')).toBe('0102'.padStart(64, '0'))
    expect(bytes.readBigInt64LE(160)).toBe(-2n)
    expect(bytes.readBigUInt64LE(168)).toBe(513n)
  })

  it('are read back from their bytes, and from no other number of bytes', () => {
    const bytes = encodeTerms(terms)

    expect(decodeTerms(bytes)).toEqual(terms)
    expect(decodeTerms(bytes.slice(1))).toBeUndefined()
  })

  it.each(['0x12', '12'.repeat(32), `0x${'AB'.repeat(32)}`])('with the op id %s are refused', (text) => {
    expect(() => encodeTerms({ ...terms, opId: text as OpId })).toThrow('An op id is 0x and 64')
  })
})

describe('addresses', () => {
  it('of two terms that differ in one field differ', async () => {
    const variants = [
      terms,
      { ...terms, wallet: terms.vault },
      { ...terms, vault: terms.wallet },
      { ...terms, attester: terms.wallet },
      { ...terms, rentReceiver: terms.wallet },
      { ...terms, opId: opId(259) },
      { ...terms, refundDeadline: -1n },
      { ...terms, amount: 514n },
    ]

    const found = await Promise.all(variants.map((variant) => findAuthority(program, variant)))

    expect(new Set(found.map(([address]) => address)).size).toBe(variants.length)
  })

  it('of token accounts are those of the associated token program; of SOL, those of wrapped SOL', async () => {
    const [expected] = await findAssociatedTokenPda({
      owner: terms.wallet,
      mint: token.mint,
      tokenProgram: TOKEN_PROGRAM,
    })
    const [wrapped] = await findAssociatedTokenPda({
      owner: terms.wallet,
      mint: WRAPPED_SOL,
      tokenProgram: TOKEN_PROGRAM,
    })

    expect(await findTokenAccount(terms.wallet, token)).toBe(expected)
    expect(await findTokenAccount(terms.wallet, NATIVE_TOKEN)).toBe(wrapped)
  })

  it('of the input are the token account of the authority', async () => {
    const [authority] = await findAuthority(program, terms)

    expect(await findInputAccount(program, { terms, token })).toBe(await findTokenAccount(authority, token))
  })
})

describe('an instruction', () => {
  it.each([true, false])(
    'to claim or refund is read back from its accounts and data, keeping the rent: %s',
    async (keepRent) => {
      const payout = { terms, token, keepRent }

      const claim = decodeEscrowInstruction(raw(await claimInstruction(program, payout)))
      const refund = decodeEscrowInstruction(
        raw(await refundInstruction(program, { ...payout, attested: false })),
      )

      const [authority, bump] = await findAuthority(program, terms)
      const same = { keepRent, bump, terms, authority, mint: token.mint, tokenProgram: TOKEN_PROGRAM }
      expect(claim).toMatchObject({
        kind: 'claim',
        ...same,
        destination: await findTokenAccount(terms.vault, token),
      })
      expect(refund).toMatchObject({
        kind: 'refund',
        ...same,
        destination: await findTokenAccount(terms.wallet, token),
      })
    },
  )

  it('to deliver is read back from its accounts and data', async () => {
    const delivery = {
      ...{ opId: opId(7), vault: terms.vault, payer: newAddress(), recipient: newAddress() },
      ...{ order: { ...ORDER, fillDeadline: 6n }, amount: 5n, markerLamports: 7n },
    }
    const [marker] = await findMarker(program, delivery)

    const native = decodeEscrowInstruction(
      raw(await deliverInstruction(program, { ...delivery, token: NATIVE_TOKEN })),
    )

    const { recipient, order, ...fields } = delivery
    const accounts = {
      fillDeadline: order.fillDeadline,
      source: terms.vault,
      destination: recipient,
      mint: SYSTEM_PROGRAM,
      tokenProgram: SYSTEM_PROGRAM,
    }
    expect(native).toEqual({ kind: 'deliver', marker, ...fields, ...accounts })
  })

  it('to sweep is read back', () => {
    const of = { marker: newAddress(), payer: newAddress() }

    expect(decodeEscrowInstruction(raw(sweepInstruction(program, of)))).toEqual({ kind: 'sweep', ...of })
  })

  it('of another form is none', async () => {
    const { accounts, data } = raw(await claimInstruction(program, { terms, token }))

    expect(decodeEscrowInstruction({ accounts, data: data.slice(1) })).toBeUndefined()
    expect(decodeEscrowInstruction({ accounts: accounts.slice(1), data })).toBeUndefined()
    expect(decodeEscrowInstruction({ accounts, data: data.with(0, 6) })).toBeUndefined()
    expect(decodeEscrowInstruction({ accounts, data: data.with(0, 4) })).toBeUndefined()
    expect(decodeEscrowInstruction({ accounts, data: new Uint8Array() })).toBeUndefined()
    expect(decodeEscrowInstruction({ accounts, data: Uint8Array.of(5) })).toBeUndefined()
  })
})

describe('an account', () => {
  const data = new Uint8Array(MARKER_BYTES)

  it('is a marker only if the program owns it and it has the size of one', () => {
    expect(decodeMarker(program, { programAddress: program, data })?.amount).toBe(0n)
    expect(decodeMarker(program, { programAddress: SYSTEM_PROGRAM, data })).toBeUndefined()
    expect(decodeMarker(program, { programAddress: program, data: data.slice(1) })).toBeUndefined()
  })

  it('is swept after its deadline and the margin', () => {
    const fillDeadline = 10n

    expect(isSweepable({ fillDeadline }, fillDeadline + SWEEP_MARGIN_SECONDS)).toBe(false)
    expect(isSweepable({ fillDeadline }, fillDeadline + SWEEP_MARGIN_SECONDS + 1n)).toBe(true)
  })

  it('of a token is read with its mint, owner, amount and state', () => {
    const [mint, owner] = [newAddress(), newAddress()]
    const held = tokenAccountData({ mint, owner, amount: 9n, native: 1n, frozen: true })
    const expected = { mint, owner, amount: 9n, isFrozen: true, isNative: true }

    expect(decodeInputAccount({ programAddress: TOKEN_2022_PROGRAM, data: held })).toEqual(expected)
    expect(decodeInputAccount({ programAddress: SYSTEM_PROGRAM, data: held })).toBeUndefined()
    expect(decodeInputAccount({ programAddress: TOKEN_PROGRAM, data: held.slice(1) })).toBeUndefined()
    expect(decodeInputAccount({ programAddress: TOKEN_PROGRAM, data: held.with(108, 0) })).toBeUndefined()
  })
})

describe('an error', () => {
  it('has one code, and its name is found by it', () => {
    const codes = Object.values(escrowErrors)

    expect(new Set(codes).size).toBe(codes.length)
    expect(findEscrowError(7009)).toBe('TOO_EARLY')
    expect(findEscrowError(1)).toBeUndefined()
  })
})

describe('the program file', () => {
  it('is the one that the source builds, with the hash that is published', () => {
    const folder = join(import.meta.dirname, '../program')
    const { elf } = assemble(readFileSync(join(folder, 'escrow.s'), 'utf8'))

    expect(Buffer.from(escrowProgram).equals(elf)).toBe(true)
    expect(readFileSync(join(folder, 'escrow.so')).equals(elf)).toBe(true)
    expect(createHash('sha256').update(elf).digest('hex')).toBe(ESCROW_PROGRAM_HASH)
  })
})

describe('a transaction of these tests', () => {
  it('is as long as the one that kit compiles, so its size is that of a real one', async () => {
    const instructions = [
      await refundInstruction(program, { terms, token, attested: true }),
      sweepInstruction(program, { marker: newAddress(), payer: terms.wallet }),
    ]
    const feePayer = newAddress()
    const lifetime = { blockhash: SYSTEM_PROGRAM as string as Blockhash, lastValidBlockHeight: 0n }
    const compiled = pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(feePayer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
      compileTransaction,
    )

    const wire = compileUnsigned(feePayer, instructions)

    expect(wire.length).toBe(getTransactionEncoder().encode(compiled).length)
  })
})
