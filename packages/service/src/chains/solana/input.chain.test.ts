import { decodeInputAccount, findAuthority } from '@geoswap/solana-escrow'
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
import { readAccounts, TOKEN_2022_PROGRAM_ADDRESS, toTokenAccountAddress } from './accounts.ts'
import { canPay, readWallet } from './builder.ts'
import { NATIVE_SOL } from './bytes.ts'
import { type Rent, termsOf } from './facts.ts'
import { feeLamports, INPUT_UNITS, inputBoundLamports } from './fees.ts'
import { buildInput, describeInput } from './input.ts'
import { MAX_TRANSACTION_BYTES } from './message.ts'
import { readSignatures, readVaultBalances } from './reads.ts'
import { checkSignedInput, cosignInput } from './signed-input.ts'
import { simulate } from './simulate.ts'

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

let ops = 0
const nextOp = () => {
  ops += 1
  return ops.toString(16).padStart(64, '0')
}

const cosign = (signedTransaction: string) =>
  cosignInput(world, world.feePayer, {
    signedTransaction,
    maxCostLamports: inputBoundLamports(world.rent, 1_000n),
  })

test.each([
  ['the token program', () => usdc, (rent: Rent) => rent.tokenAccountLamports],
  ['Token-2022', () => token2022, (rent: Rent) => rent.token2022AccountLamports],
])(
  'an input of %s moves exactly the amount into its escrow account, and the service pays for it',
  async (_, tokenOf, rentOf) => {
    const token = tokenOf()
    const opHash = nextOp()
    const built = await world.input({ wallet: wallet.address, token, amount: 25_000_000n, opHash })
    const before = await readBalances(token)

    const checked = await checkSignedInput(world, {
      messageHash: built.messageHash,
      wallet: wallet.address,
      signedTransaction: await signAsWallet(wallet, built.unsignedTransaction),
    })
    if (checked.kind !== 'ok') throw new Error(checked.kind)
    const { raw, txHash } = await cosign(checked.signedTransaction)
    await world.land(raw)

    const after = await readBalances(token)
    expect(before.wallet - after.wallet).toBe(25_000_000n)
    expect(after.walletLamports).toBe(before.walletLamports)
    expect(before.feePayerLamports - after.feePayerLamports).toBe(
      feeLamports(INPUT_UNITS, 1_000n) + rentOf(world.rent),
    )
    const account = checked.terms.destination
    expect(await readTransactionAmount(world.client, { txHash, account, token })).toMatchObject({
      failed: false,
      amount: 25_000_000n,
    })
  },
)

async function readBalances(token: TestMint) {
  const of = { tokens: [token], commitment: 'confirmed' } as const
  const [held, walletLamports, feePayerLamports] = await Promise.all([
    readVaultBalances(world.client, { owner: wallet.address, ...of }),
    world.client.rpc.getBalance(wallet.address).send(),
    world.client.rpc.getBalance(world.feePayer.address).send(),
  ])
  return {
    wallet: held.get(token.mint) ?? 0n,
    walletLamports: walletLamports.value,
    feePayerLamports: feePayerLamports.value,
  }
}

test("a native input can use the wallet's last lamport, and the service pays the fee", async () => {
  const poor = await world.fundedSigner(2n * SOL)
  const built = await world.input({ wallet: poor.address, amount: 2n * SOL, opHash: nextOp() })
  const { destination } = await describeInput(world.settings, built.unsignedTransaction)

  const { raw, txHash } = await cosign(await signAsWallet(poor, built.unsignedTransaction))
  await world.land(raw)

  expect((await readSignatures(world.client, [txHash])).get(txHash)).toMatchObject({ failed: false })
  expect((await world.client.rpc.getBalance(poor.address).send()).value).toBe(0n)
  const [account] = await readAccounts(world.client, { addresses: [String(destination)] })
  const held = account && decodeInputAccount({ programAddress: account.owner, data: account.data })
  expect(held).toMatchObject({ amount: 2n * SOL, isNative: true })
  expect(account?.lamports).toBe(2n * SOL + world.rent.tokenAccountLamports)
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
  expect(before.wallet - (await readBalances(usdc)).wallet).toBe(1_000_000n)
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
  const { destination } = await describeInput(world.settings, built.unsignedTransaction)
  const account = String(destination)
  const landed = await readTransactionAmount(world.client, { txHash, account, token: usdc })
  expect(landed).toMatchObject({ failed: true, amount: 0n })
  expect(await readAccounts(world.client, { addresses: [account] })).toEqual([undefined])
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
  const request = await world.inputRequest({ wallet: wallet.address, token: usdc, amount: 5n })
  const built = await buildInput(world.escrow, request)
  const { program, vault, attester } = world.escrow
  const { refundDeadline } = request
  const locker = world.feePayer.address
  const op = { hash: OP_HASH, wallet: wallet.address, locker, refundDeadline, inputAmount: 5n }
  const [authority] = await findAuthority(program, termsOf(world.escrow, op))

  expect(await describeInput(world.settings, built.unsignedTransaction)).toEqual({
    ...{ chainId: 1, program, vault, attester, refundDeadline },
    feePayer: world.feePayer.address,
    wallet: wallet.address,
    opId: OP_HASH.slice(2),
    blockhash: expect.any(String),
    computeUnits: expect.any(Number),
    microLamportsPerUnit: '1000',
    token: usdc.mint,
    tokenProgram: usdc.program,
    amount: '5',
    destination: await toTokenAccountAddress({ owner: authority, mint: usdc.mint, program: usdc.program }),
  })
})

test('the fee payer only pays: it funds the account and appears nowhere else', async () => {
  for (const of of [{ token: usdc }, { token: token2022 }, {}]) {
    const built = await world.input({ wallet: wallet.address, ...of })
    const compiled = getCompiledTransactionMessageDecoder().decode(messageOf(built.unsignedTransaction))
    const instructions: readonly Instruction[] = decompileTransactionMessage(compiled).instructions

    const uses = instructions.flatMap(({ accounts = [], data }, at) =>
      accounts.flatMap(({ address, role }) =>
        address === world.feePayer.address ? [{ at, role, kind: data?.[0] }] : [],
      ),
    )
    expect(uses).toEqual([{ at: 3, role: AccountRole.WRITABLE_SIGNER, kind: 0 }])
    expect(compiled.version === 0 && compiled.addressTableLookups).toBeFalsy()
    const memo = new TextDecoder().decode(Uint8Array.from(instructions[2]?.data ?? []))
    expect(memo).toMatch(new RegExp(`^${OP_HASH.slice(2)} \\d{10}$`))
    // TransferChecked of the token programs, Transfer of the System program: nothing unchecked.
    expect(instructions[4]?.data?.[0]).toBe('token' in of ? 12 : 2)
  }
})

test('a memo contains only the hash of an op', async () => {
  for (const opHash of ['', 'hello', `${'ab'.repeat(32)}\n`, `0x${'zz'.repeat(32)}`, 'ab'.repeat(33)]) {
    await expect(world.input({ wallet: wallet.address, opHash })).rejects.toThrow('Not an op hash')
  }
})

test('a wallet that has another role in the escrow is refused', async () => {
  const { vault, attester } = world.escrow
  for (const address of [world.feePayer.address, vault, attester])
    await expect(world.input({ wallet: address })).rejects.toThrow('Two roles')
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
