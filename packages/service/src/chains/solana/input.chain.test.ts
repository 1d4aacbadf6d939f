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
import { toTokenAccountAddress } from './accounts.ts'
import { NATIVE_SOL } from './address.ts'
import { sha256Hex, toBase64 } from './bytes.ts'
import { inputCostLamports } from './fees.ts'
import { describeInput, readInputTerms } from './input-terms.ts'
import { joinWire, MAX_TRANSACTION_BYTES } from './message.ts'
import { readMarkers, readSignatures, readTransactionAmount, readVaultBalances } from './reads.ts'
import { checkSignedInput, cosignInput } from './signed-input.ts'
import { simulate } from './simulate.ts'
import { OP_HASH, SOL, type SolanaWorld, startSolanaWorld, type TestMint } from './test-solana.ts'
import { messageOf, signAsWallet, wireOf } from './test-wallet.ts'
import { TOKEN_2022_PROGRAM_ADDRESS } from './token-layout.ts'
import { canPay, readWallet } from './wallet.ts'

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
    await world.give(token, world.intake.address, 0n)
  }
})
afterAll(() => world.chain.stop())

let ops = 0
const nextOp = () => {
  ops += 1
  return ops.toString(16).padStart(64, '0')
}

/** Adds instructions to a built message, as a caller might before asking us to pay for it. */
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
  cosignInput(payer, {
    signedTransaction,
    maxCostLamports: inputCostLamports({ rent: world.rent, microLamportsPerUnit: 1_000n }),
  })

const asWire = (message: Uint8Array) => toBase64(joinWire([new Uint8Array(64), new Uint8Array(64)], message))

test.each([
  ['the token program', () => usdc],
  ['Token-2022', () => token2022],
])(
  'an input of %s moves exactly the amount to the intake, and the service pays for it',
  async (_, tokenOf) => {
    const token = tokenOf()
    const opHash = nextOp()
    const built = await world.input({ wallet: wallet.address, token, amount: 25_000_000n, opHash })
    const before = await readBalances(token)

    const checked = await checkSignedInput({
      messageHash: built.messageHash,
      wallet: wallet.address,
      signedTransaction: await signAsWallet(wallet, built.unsignedTransaction),
    })
    if (checked.kind !== 'ok') throw new Error(checked.kind)
    const { raw, txHash } = await cosign(checked.signedTransaction)
    await world.land(raw)

    const after = await readBalances(token)
    expect(after.intake - before.intake).toBe(25_000_000n)
    expect(before.wallet - after.wallet).toBe(25_000_000n)
    expect(after.walletLamports).toBe(before.walletLamports)
    expect(before.feePayerLamports - after.feePayerLamports).toBe(
      inputCostLamports({ rent: world.rent, microLamportsPerUnit: 1_000n }),
    )
    const marked = { addresses: [built.marker.address], commitment: 'confirmed' } as const
    expect((await readMarkers(world.client, marked)).get(built.marker.address)).toBe(true)
    expect(
      await readTransactionAmount(world.client, { txHash, account: await ataOf(token), token }),
    ).toMatchObject({
      failed: false,
      amount: 25_000_000n,
    })
  },
)

async function ataOf({ mint, program }: TestMint): Promise<string> {
  return toTokenAccountAddress({ owner: world.intake.address, mint, program })
}

async function readBalances(token: TestMint) {
  const of = { tokens: [token], commitment: 'confirmed' } as const
  const [intake, held, walletLamports, feePayerLamports] = await Promise.all([
    readVaultBalances(world.client, { owner: world.intake.address, ...of }),
    readVaultBalances(world.client, { owner: wallet.address, ...of }),
    world.client.rpc.getBalance(wallet.address).send(),
    world.client.rpc.getBalance(world.feePayer.address).send(),
  ])
  return {
    intake: intake.get(token.mint) ?? 0n,
    wallet: held.get(token.mint) ?? 0n,
    walletLamports: walletLamports.value,
    feePayerLamports: feePayerLamports.value,
  }
}

test('a native input leaves the wallet without a lamport, and its fee was not its own', async () => {
  const poor = await world.fundedSigner(2n * SOL)
  const built = await world.input({ wallet: poor.address, amount: 2n * SOL, opHash: nextOp() })

  const { raw, txHash } = await cosign(await signAsWallet(poor, built.unsignedTransaction))
  await world.land(raw)

  expect((await readSignatures(world.client, [txHash])).get(txHash)).toMatchObject({ failed: false })
  expect((await world.client.rpc.getBalance(poor.address).send()).value).toBe(0n)
  const paid = { txHash, account: world.intake.address, token: { mint: NATIVE_SOL } }
  expect((await readTransactionAmount(world.client, paid))?.amount).toBe(2n * SOL)
})

test('of two builds of one op only one can take the input', async () => {
  const opHash = nextOp()
  const of = { wallet: wallet.address, token: usdc, amount: 1_000_000n, opHash }
  const first = await world.input(of)
  await world.advance(1)
  const second = await world.input(of)
  const before = await readBalances(usdc)

  const hashes: string[] = []
  for (const { unsignedTransaction } of [first, second]) {
    const { raw, txHash } = await cosign(await signAsWallet(wallet, unsignedTransaction))
    hashes.push(txHash)
    await world.land(raw)
  }

  const statuses = await readSignatures(world.client, hashes)
  expect(hashes.map((hash) => statuses.get(hash)?.failed)).toEqual([false, true])
  expect(first.messageHash).not.toBe(second.messageHash)
  expect((await readBalances(usdc)).intake - before.intake).toBe(1_000_000n)
})

test('an input that landed with an error took nothing', async () => {
  const empty = await world.fundedSigner()
  await world.give(usdc, empty.address, 10n)
  const built = await world.input({ wallet: empty.address, token: usdc, amount: 11n, opHash: nextOp() })
  const signed = await signAsWallet(empty, built.unsignedTransaction)
  const simulated = await simulate(world.client, { raw: signed, replaceBlockhash: false })

  const { raw, txHash } = await cosign(signed)
  await world.land(raw)

  expect(simulated.kind).toBe('insufficientFunds')
  const landed = await readTransactionAmount(world.client, {
    txHash,
    account: await ataOf(usdc),
    token: usdc,
  })
  expect(landed).toMatchObject({ failed: true, amount: 0n })
  const marked = { addresses: [built.marker.address], commitment: 'confirmed' } as const
  expect((await readMarkers(world.client, marked)).get(built.marker.address)).toBe(false)
})

test('the built transaction holds 64 zero bytes for every signature and fits into one packet', async () => {
  for (const token of [usdc, token2022]) {
    const wire = wireOf((await world.input({ wallet: wallet.address, token })).unsignedTransaction)

    expect(wire[0]).toBe(2)
    expect(wire.slice(1, 129).every((byte) => byte === 0)).toBe(true)
    expect(wire.length).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
  }
})

test('the terms that the wallet signs are readable', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc, amount: 5n })

  expect(describeInput(built.unsignedTransaction)).toEqual({
    feePayer: world.feePayer.address,
    wallet: wallet.address,
    opId: OP_HASH.slice(2),
    blockhash: expect.any(String),
    computeUnits: expect.any(Number),
    microLamportsPerUnit: '1000',
    marker: built.marker.address,
    markerLamports: String(world.rent.emptyLamports),
    token: usdc.mint,
    amount: '5',
    source: await toTokenAccountAddress({ owner: wallet.address, mint: usdc.mint, program: usdc.program }),
    destination: await ataOf(usdc),
  })
})

test('the fee payer only pays: it appears as the funder of the marker and nowhere else', async () => {
  for (const of of [{ token: usdc }, { token: token2022 }, {}]) {
    const built = await world.input({ wallet: wallet.address, ...of })
    const compiled = getCompiledTransactionMessageDecoder().decode(messageOf(built.unsignedTransaction))
    const instructions: readonly Instruction[] = decompileTransactionMessage(compiled).instructions

    const uses = instructions.flatMap(({ accounts = [], data }, at) =>
      accounts.flatMap(({ address, role }) =>
        address === world.feePayer.address ? [{ at, role, kind: data?.[0] }] : [],
      ),
    )
    expect(uses).toEqual([{ at: 2, role: AccountRole.WRITABLE_SIGNER, kind: 3 }])
    expect(compiled.version === 0 && compiled.addressTableLookups).toBeFalsy()
    const memo = new TextDecoder().decode(Uint8Array.from(instructions[3]?.data ?? []))
    expect(memo).toBe(OP_HASH.slice(2))
    // TransferChecked of the token programs, Transfer of the System program: nothing unchecked.
    expect(instructions[4]?.data?.[0]).toBe('token' in of ? 12 : 2)
  }
})

test('a memo is never anything but the hash of an op', async () => {
  for (const opHash of ['', 'hello', `${'ab'.repeat(32)}\n`, `0x${'zz'.repeat(32)}`, 'ab'.repeat(33)]) {
    await expect(world.input({ wallet: wallet.address, opHash })).rejects.toThrow('Not the hash of an op')
  }
})

test('a wallet or intake that is the fee payer is refused', async () => {
  await expect(world.input({ wallet: world.feePayer.address })).rejects.toThrow('takes no part')
  await expect(world.input({ wallet: wallet.address, intake: world.feePayer.address })).rejects.toThrow(
    'takes no part',
  )
})

test('whatever a caller adds for the fee payer to pay, it does not sign', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc })
  const message = messageOf(built.unsignedTransaction)
  const { feePayer } = world
  const thief = (await generateKeyPairSigner()).address
  const attacks: Instruction[] = [
    getTransferSolInstruction({ source: feePayer, destination: thief, amount: 1n }),
    getAssignInstruction({ account: feePayer, programAddress: thief }),
    getSetAuthorityInstruction({
      owned: (await ataOf(usdc)) as Address,
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
    expect(await checkSignedInput(submitted)).toEqual({ kind: 'mismatch' })
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

  expect(readInputTerms(message)).toBeUndefined()
  const submitted = { messageHash: await sha256Hex(message), wallet: wallet.address, signedTransaction }
  expect(await checkSignedInput(submitted)).toEqual({ kind: 'mismatch' })
  await expect(cosign(signedTransaction)).rejects.toThrow('Not an input')
})

test('any byte changed in a signed transaction is refused before it is signed', async () => {
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
  const changes = fc.record({
    which: fc.nat(signed.length - 1),
    at: fc.nat(MAX_TRANSACTION_BYTES),
    flip: fc.integer({ min: 1, max: 255 }),
  })

  await fc.assert(
    fc.asyncProperty(changes, async ({ which, at, flip }) => {
      const { messageHash, wire } = signed[which] ?? { messageHash: '', wire: new Uint8Array() }
      const index = at % wire.length
      // Our own slot is written over: what a caller puts there is nobody's signature.
      fc.pre(index === 0 || index > 64)
      const changed = Uint8Array.from(wire)
      changed[index] = (changed[index] ?? 0) ^ flip
      const submitted = { messageHash, wallet: wallet.address, signedTransaction: toBase64(changed) }
      expect((await checkSignedInput(submitted)).kind).not.toBe('ok')
    }),
    { numRuns: 10_000 },
  )
}, 60_000)

test('a message of our own shape that would cost the fee payer more is not signed', async () => {
  const rent = { ...world.rent, emptyLamports: world.rent.emptyLamports + 1n }
  for (const of of [{ rent }, { microLamportsPerUnit: 1_100n }]) {
    const { unsignedTransaction } = await world.input({ wallet: wallet.address, token: usdc, ...of })

    await expect(cosign(await signAsWallet(wallet, unsignedTransaction))).rejects.toThrow('costs more')
  }
})

test('no changed byte makes the fee payer sign for another cost, account or program', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc })
  const message = messageOf(built.unsignedTransaction)
  const terms = readInputTerms(message)

  for (const [index, byte] of message.entries()) {
    const changed = Uint8Array.from(message)
    changed[index] = byte ^ 0x15
    const read = readInputTerms(changed)
    const signed = await cosign(asWire(changed)).catch(() => undefined)
    if (!signed) continue
    expect(read?.feePayer).toBe(terms?.feePayer)
    expect(read?.markerLamports).toBeLessThanOrEqual(terms?.markerLamports ?? 0n)
  }
})

test('bytes cut off, added or encoded in another way are refused', async () => {
  const built = await world.input({ wallet: wallet.address, token: usdc })
  const good = await signAsWallet(wallet, built.unsignedTransaction)
  const wire = wireOf(good)
  const kindOf = async (signedTransaction: string) =>
    (await checkSignedInput({ messageHash: built.messageHash, wallet: wallet.address, signedTransaction }))
      .kind

  expect(await kindOf(good)).toBe('ok')
  for (const bad of [
    ...['', 'A', '====', 'not base64', `${good}\n`, ` ${good}`, `${good}AAAA`],
    good.replace(/=+$/, ''),
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

test('only the wallet of the op can sign it, and our slot in the reply of the caller does not matter', async () => {
  const other = await generateKeyPairSigner()
  const { messageHash, unsignedTransaction } = await world.input({ wallet: wallet.address, token: usdc })
  const check = (signedTransaction: string, of = wallet.address as string) =>
    checkSignedInput({ messageHash, wallet: of, signedTransaction })
  const good = await signAsWallet(wallet, unsignedTransaction)
  const noisy = wireOf(good)
  noisy.fill(9, 1, 65)

  expect(await check(unsignedTransaction)).toEqual({ kind: 'badSignature' })
  expect(await check(await signAsWallet(other, unsignedTransaction))).toEqual({ kind: 'badSignature' })
  expect(await check(good, other.address)).toEqual({ kind: 'mismatch' })
  expect(await check(toBase64(noisy))).toMatchObject({ kind: 'ok', signedTransaction: good })
})

test('a fee payer cosigns only what it pays for, and always with the same bytes', async () => {
  const { unsignedTransaction } = await world.input({ wallet: wallet.address, token: usdc })
  const good = await signAsWallet(wallet, unsignedTransaction)

  await expect(cosign(good, world.authority)).rejects.toThrow('Not an input')
  expect(await cosign(good)).toEqual(await cosign(good))
})

test('a wallet shows what it can pay', async () => {
  const { client, rent } = world
  const fresh = await world.fundedSigner(SOL)
  const read = (token: { mint: string; program: string }) =>
    readWallet(client, { wallet: fresh.address, token, rent })

  expect(await read(usdc)).toMatchObject({ balance: 0n, lamports: SOL, frozen: false })
  await world.give(usdc, fresh.address, 70n)
  const held = await read(usdc)
  expect(held).toMatchObject({ balance: 70n, lamports: SOL })
  expect([canPay(held, 70n), canPay(held, 71n), canPay({ ...held, frozen: true }, 1n)]).toEqual([
    true,
    false,
    false,
  ])
  const native = await read({ mint: NATIVE_SOL, program: NATIVE_SOL })
  expect(native.balance).toBe(SOL)
  // All of it, or so little that what stays is still an account.
  expect(canPay(native, SOL)).toBe(true)
  expect(canPay(native, SOL - rent.emptyLamports)).toBe(true)
  expect(canPay(native, SOL - rent.emptyLamports + 1n)).toBe(false)
})
