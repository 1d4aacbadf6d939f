import {
  AccountRole,
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  OP_HASH,
  SOL,
  type SolanaWorld,
  startSolanaWorld,
  type TestMint,
} from '../../../test/support/solana.ts'
import { readTransactionAmount } from '../../../test/support/solana-amount.ts'
import { messageOf, signAsWallet, wireOf } from '../../../test/support/solana-wallet.ts'
import { readAccounts, toTokenAccountAddress } from './accounts.ts'
import { NATIVE_SOL } from './address.ts'
import { inputCostLamports } from './fees.ts'
import { describeInput } from './input-terms.ts'
import { MAX_TRANSACTION_BYTES } from './message.ts'
import { readSignatures, readVaultBalances } from './reads.ts'
import { checkSignedInput, cosignInput } from './signed-input.ts'
import { simulate } from './simulate.ts'
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

const cosign = (signedTransaction: string, payer = world.feePayer) =>
  cosignInput(payer, {
    signedTransaction,
    maxCostLamports: inputCostLamports({ rent: world.rent, microLamportsPerUnit: 1_000n }),
  })

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
    expect(await isMarked(built.marker)).toBe(true)
    expect(
      await readTransactionAmount(world.client, { txHash, account: await ataOf(token), token }),
    ).toMatchObject({
      failed: false,
      amount: 25_000_000n,
    })
  },
)

async function isMarked({ address }: { address: string }): Promise<boolean> {
  const [account] = await readAccounts(world.client, { addresses: [address], commitment: 'confirmed' })
  return account !== undefined
}

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

test("a native input can use the wallet's last lamport, and the service pays the fee", async () => {
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

test('a failed input takes nothing', async () => {
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
  expect(await isMarked(built.marker)).toBe(false)
})

test('the built transaction has 64 zero bytes for every signature and fits into one packet', async () => {
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

test('the fee payer only pays: it funds the marker and appears nowhere else', async () => {
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

test('a memo contains only the hash of an op', async () => {
  for (const opHash of ['', 'hello', `${'ab'.repeat(32)}\n`, `0x${'zz'.repeat(32)}`, 'ab'.repeat(33)]) {
    await expect(world.input({ wallet: wallet.address, opHash })).rejects.toThrow('Not an op hash')
  }
})

test('a wallet or intake that is the fee payer is refused', async () => {
  await expect(world.input({ wallet: world.feePayer.address })).rejects.toThrow('takes no part')
  await expect(world.input({ wallet: wallet.address, intake: world.feePayer.address })).rejects.toThrow(
    'takes no part',
  )
})

test('a wallet reports its spendable balance', async () => {
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
  // The whole balance, or an amount that leaves the rent minimum.
  expect(canPay(native, SOL)).toBe(true)
  expect(canPay(native, SOL - rent.emptyLamports)).toBe(true)
  expect(canPay(native, SOL - rent.emptyLamports + 1n)).toBe(false)
})
