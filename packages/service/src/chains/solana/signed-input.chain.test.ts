import {
  AccountRole,
  type Address,
  appendTransactionMessageInstruction,
  compileTransactionMessage,
  decompileTransactionMessage,
  generateKeyPairSigner,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from '@solana-program/compute-budget'
import { getAssignInstruction, getTransferSolInstruction } from '@solana-program/system'
import { AuthorityType, getSetAuthorityInstruction } from '@solana-program/token'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld, type TestMint } from '../../../test/support/solana.ts'
import { messageOf, signAsWallet, wireOf } from '../../../test/support/solana-wallet.ts'
import { TOKEN_2022_PROGRAM_ADDRESS } from './accounts.ts'
import { sha256Hex, toBase64 } from './bytes.ts'
import { inputBoundLamports } from './fees.ts'
import { readInputMessage } from './input.ts'
import { joinWire, MAX_TRANSACTION_BYTES } from './message.ts'
import { checkSignedInput, cosignInput } from './signed-input.ts'

let world: SolanaWorld
let wallet: KeyPairSigner
let usdc: TestMint
let token2022: TestMint
beforeAll(async () => {
  world = await startSolanaWorld()
  wallet = await world.fundedSigner()
  usdc = await world.createMint()
  token2022 = await world.createMint({ program: TOKEN_2022_PROGRAM_ADDRESS })
  for (const token of [usdc, token2022]) {
    await world.give(token, wallet.address, 100_000_000n)
  }
})
afterAll(() => world.chain.stop())

/** Adds instructions to a built message, as a caller might to have us pay for them. */
function withInstructions(message: Uint8Array, ...extra: Instruction[]): Uint8Array {
  const compiled = getCompiledTransactionMessageDecoder().decode(message)
  const decompiled = decompileTransactionMessage(compiled, { lastValidBlockHeight: 1n })
  const changed = extra.reduce<typeof decompiled>(
    (all, instruction) => appendTransactionMessageInstruction(instruction, all) as typeof decompiled,
    decompiled,
  )
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(changed)))
}

const cosign = (signedTransaction: string, payer = world.feePayer) =>
  cosignInput(world, payer, {
    signedTransaction,
    maxCostLamports: inputBoundLamports(world.rent, 1_000n),
  })

const readTerms = (message: Uint8Array) => readInputMessage(world.escrow, message)

const asWire = (message: Uint8Array) => toBase64(joinWire([new Uint8Array(64), new Uint8Array(64)], message))

test('the fee payer signs nothing that a caller adds', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc })
  const message = messageOf(built.unsignedTransaction)
  const { feePayer } = world
  const thief = (await generateKeyPairSigner()).address
  const attacks: Instruction[] = [
    getTransferSolInstruction({ source: feePayer, destination: thief, amount: 1n }),
    getAssignInstruction({ account: feePayer, programAddress: thief }),
    getSetAuthorityInstruction({
      owned: usdc.mint as Address,
      owner: feePayer,
      authorityType: AuthorityType.AccountOwner,
      newAuthority: thief,
    }),
    { programAddress: thief, accounts: [{ address: feePayer.address, role: AccountRole.WRITABLE_SIGNER }] },
    { programAddress: COMPUTE_BUDGET_PROGRAM_ADDRESS, data: new Uint8Array([1, 0, 0, 4, 0]) },
  ]

  for (const attack of attacks) {
    const signedTransaction = await signAsWallet(wallet, asWire(withInstructions(message, attack)))
    const submitted = { messageHash: built.messageHash, wallet: wallet.address, signedTransaction }
    expect(await checkSignedInput(world, submitted)).toEqual({ kind: 'mismatch' })
    await expect(cosign(signedTransaction)).rejects.toThrow('Not an input')
  }
})

test('a transaction with a lookup table is not an input, whatever its hash', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc })
  const compiled = getCompiledTransactionMessageDecoder().decode(messageOf(built.unsignedTransaction))
  const lookup = {
    lookupTableAddress: usdc.mint as Address,
    writableIndexes: [0],
    readonlyIndexes: [],
  }
  const message = Uint8Array.from(
    getCompiledTransactionMessageEncoder().encode({
      ...compiled,
      addressTableLookups: [lookup],
    } as typeof compiled),
  )
  const signedTransaction = await signAsWallet(wallet, asWire(message))

  expect(await readTerms(message)).toBeUndefined()
  const submitted = { messageHash: await sha256Hex(message), wallet: wallet.address, signedTransaction }
  expect(await checkSignedInput(world, submitted)).toEqual({ kind: 'mismatch' })
  await expect(cosign(signedTransaction)).rejects.toThrow('Not an input')
})

test('any changed byte in a signed transaction is refused before it is signed', async () => {
  const built = [
    await world.input({ wallet: wallet.address, token: usdc }),
    await world.input({ wallet: wallet.address, token: token2022 }),
    await world.input({ wallet: wallet.address }),
  ]
  const signed = await Promise.all(
    built.map(async ({ messageHash, unsignedTransaction }) => ({
      messageHash,
      wire: wireOf(await signAsWallet(wallet, unsignedTransaction)),
    })),
  )
  const change = fc.record({
    which: fc.nat(signed.length - 1),
    at: fc.nat(MAX_TRANSACTION_BYTES),
    flip: fc.integer({ min: 1, max: 255 }),
  })
  const judge = async ({ which, at, flip }: { which: number; at: number; flip: number }) => {
    const { messageHash, wire } = signed[which] ?? { messageHash: '', wire: new Uint8Array() }
    // Skips our own slot: it is overwritten, and its content is not a signature.
    const index = at % (wire.length - 64)
    const changed = Uint8Array.from(wire)
    const place = index === 0 ? 0 : index + 64
    changed[place] = (changed[place] ?? 0) ^ flip
    const submitted = { messageHash, wallet: wallet.address, signedTransaction: toBase64(changed) }
    return (await checkSignedInput(world, submitted)).kind
  }

  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 100, maxLength: 100 }), async (many) => {
      expect(await Promise.all(many.map(judge))).not.toContain('ok')
    }),
    { numRuns: 100 },
  )
}, 120_000)

test('an overlong count or a trailing byte is not an input', async () => {
  const message = messageOf((await world.input({ wallet: wallet.address, token: usdc })).unsignedTransaction)
  const accounts = message[4] ?? 0
  const loose = [
    Uint8Array.from([...message.slice(0, 4), accounts | 0x80, 0, ...message.slice(5)]),
    Uint8Array.from([...message, 0]),
  ]

  expect(await readTerms(message)).toBeDefined()
  for (const bytes of loose) expect(await readTerms(bytes)).toBeUndefined()
})

test('a message of our own shape with a higher cost for the fee payer is not signed', async () => {
  for (const of of [{ units: 120_000 }, { microLamportsPerUnit: 2_000n }]) {
    const { unsignedTransaction } = await world.input({ wallet: wallet.address, token: token2022, ...of })

    await expect(cosign(await signAsWallet(wallet, unsignedTransaction))).rejects.toThrow('costs more')
  }
})

test('no changed byte makes the fee payer sign for another cost, account or program', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc })
  const message = messageOf(built.unsignedTransaction)
  const terms = await readTerms(message)

  for (const [index, byte] of message.entries()) {
    const changed = Uint8Array.from(message)
    changed[index] = byte ^ 0x15
    const signed = await cosign(asWire(changed)).catch(() => undefined)
    if (!signed) continue
    const read = await readTerms(changed)
    expect([read?.feePayer, read?.tokenProgram]).toEqual([terms?.feePayer, terms?.tokenProgram])
  }
})

test('truncated, extended or differently encoded bytes are refused', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc })
  const good = await signAsWallet(wallet, built.unsignedTransaction)
  const wire = wireOf(good)
  const kindOf = async (signedTransaction: string) =>
    (
      await checkSignedInput(world, {
        messageHash: built.messageHash,
        wallet: wallet.address,
        signedTransaction,
      })
    ).kind

  expect(await kindOf(good)).toBe('ok')
  const unpadded = good.replace(/=+$/, '')
  for (const bad of [
    '',
    'A',
    '====',
    'not base64',
    `${good}\n`,
    ` ${good}`,
    `${good}AAAA`,
    ...(unpadded === good ? [] : [unpadded]),
    good.replaceAll('+', '-').replaceAll('/', '_').concat('-'),
    toBase64(wire.slice(0, -1)),
    toBase64(Uint8Array.from([...wire, 0])),
    toBase64(Uint8Array.from([1, ...wire.slice(65)])),
    toBase64(Uint8Array.from([3, ...new Uint8Array(64), ...wire.slice(1)])),
    toBase64(Uint8Array.from([0x82, 0, ...wire.slice(1)])),
  ]) {
    expect(await kindOf(bad)).toBe('mismatch')
  }
})

test("only the op's wallet can sign it, and the caller's content of our slot is ignored", async () => {
  const other = await generateKeyPairSigner()
  const { messageHash, unsignedTransaction } = await world.input({ wallet: wallet.address, token: usdc })
  const check = (signedTransaction: string, of = wallet.address as string) =>
    checkSignedInput(world, { messageHash, wallet: of, signedTransaction })
  const good = await signAsWallet(wallet, unsignedTransaction)
  const noisy = wireOf(good)
  noisy.fill(9, 1, 65)

  expect(await check(unsignedTransaction)).toEqual({ kind: 'badSignature' })
  expect(await check(await signAsWallet(other, unsignedTransaction))).toEqual({ kind: 'badSignature' })
  expect(await check(good, other.address)).toEqual({ kind: 'mismatch' })
  expect(await check(toBase64(noisy))).toMatchObject({ kind: 'ok', signedTransaction: good })
})

test('a fee payer cosigns only its own inputs, and always with the same bytes', async () => {
  const { unsignedTransaction } = await world.input({ wallet: wallet.address, token: usdc })
  const good = await signAsWallet(wallet, unsignedTransaction)

  await expect(cosign(good, world.authority)).rejects.toThrow('Not an input')
  expect(await cosign(good)).toEqual(await cosign(good))
})
