import { findMarker, type OpId } from '@geoswap/solana-escrow'
import {
  AccountRole,
  type Address,
  decompileTransactionMessage,
  generateKeyPairSigner,
  getCompiledTransactionMessageDecoder,
  type Instruction,
} from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SOL, type SolanaWorld, startSolanaWorld, type TestMint } from '../../../test/support/solana.ts'
import { readTransactionAmount } from '../../../test/support/solana-amount.ts'
import { messageOf, wireOf } from '../../../test/support/solana-wallet.ts'
import { NATIVE_TOKEN, readAccounts, TOKEN_2022_PROGRAM_ADDRESS, toTokenAccountAddress } from './accounts.ts'
import { NATIVE_SOL } from './bytes.ts'
import { readCost } from './chain.ts'
import {
  feeLamports,
  INPUT_UNITS,
  inputCostLamports,
  markerUnits,
  PAYMENT_UNITS,
  paymentCostLamports,
  paymentUnits,
  SWEEP_UNITS,
} from './fees.ts'
import { readHeads } from './heads.ts'
import { MAX_TRANSACTION_BYTES } from './message.ts'
import { compilePayment, type Payment } from './plans.ts'
import { readSignatures, readVaultBalances } from './reads.ts'
import { readRecipient } from './recipient.ts'
import { broadcast } from './send.ts'
import { simulate } from './simulate.ts'

let world: SolanaWorld
let usdc: TestMint
let token2022: TestMint
beforeAll(async () => {
  world = await startSolanaWorld()
  usdc = await world.createMint()
  token2022 = await world.createMint({ program: TOKEN_2022_PROGRAM_ADDRESS })
  for (const token of [usdc, token2022]) await world.give(token, world.authority.address, 1_000_000_000n)
})
afterAll(() => world.chain.stop())

let ops = 0
const nextOp = () => {
  ops += 1
  return ops.toString(16).padStart(64, '0')
}

const newAddress = async (): Promise<string> => (await generateKeyPairSigner()).address

async function balanceOf(owner: string, token: TestMint | typeof NATIVE_TOKEN): Promise<bigint> {
  const held = await readVaultBalances(world.client, { owner, tokens: [token], commitment: 'confirmed' })
  return held.get(token.mint) ?? 0n
}

async function isFailed(txHash: string): Promise<boolean | undefined> {
  return (await readSignatures(world.client, [txHash])).get(txHash)?.failed
}

async function pay(of: Parameters<SolanaWorld['payment']>[0]) {
  const signed = await world.pay(of)
  await world.land(signed.raw)
  return signed
}

async function markerOf(deliveryHash: string): Promise<string> {
  const { program, vault } = world.escrow
  return (await findMarker(program, { vault, opId: deliveryHash as OpId }))[0]
}

test.each([
  ['the token program', () => usdc],
  ['Token-2022', () => token2022],
])('a delivery of %s opens the account of the recipient at the quoted cost', async (_, tokenOf) => {
  const token = tokenOf()
  const to = await newAddress()
  const lamportsBefore = (await world.client.rpc.getBalance(world.feePayer.address).send()).value

  const paid = await pay({ to, token, amount: 5_000n, createRecipientAccount: true, op: nextOp() })

  expect(await isFailed(paid.txHash)).toBe(false)
  expect((await readCost(world, paid.txHash))?.eventIds).toEqual([paid.deliveryHash])
  expect(await balanceOf(to, token)).toBe(5_000n)
  const account = await toTokenAccountAddress({ owner: to, mint: token.mint, program: token.program })
  expect(await readTransactionAmount(world.client, { txHash: paid.txHash, account, token })).toMatchObject({
    failed: false,
    amount: 5_000n,
  })
  const lamportsAfter = (await world.client.rpc.getBalance(world.feePayer.address).send()).value
  const costs = { rent: world.rent, microLamportsPerUnit: 1_000n }
  const sweep = feeLamports(SWEEP_UNITS, 1_000n, 1n)
  // At this price a unit costs a thousandth of a lamport.
  const units = await markerUnits(world.escrow.program, { vault: world.escrow.vault, ...paid })
  const tries = (BigInt(units) + 999n) / 1_000n
  expect(lamportsBefore - lamportsAfter).toBe(
    paymentCostLamports(costs, { token, createAccount: true }) - sweep + tries + world.rent.markerLamports,
  )
})

test('a native delivery reaches an address that never existed', async () => {
  const to = await newAddress()

  const paid = await pay({ to, token: NATIVE_TOKEN, amount: SOL, op: nextOp() })

  expect(await isFailed(paid.txHash)).toBe(false)
  expect(await balanceOf(to, NATIVE_TOKEN)).toBe(SOL)
  const read = { txHash: paid.txHash, account: to, token: { mint: NATIVE_SOL } }
  expect((await readTransactionAmount(world.client, read))?.amount).toBe(SOL)
})

test('a second signed delivery of one op cannot land', async () => {
  const to = await newAddress()
  const of = { to, token: usdc, amount: 7n, createRecipientAccount: true, op: nextOp() }
  const first = await world.pay(of)
  await world.advance(1)
  const second = await world.pay({ ...of, amount: 8n })

  await world.land(first.raw)
  const simulated = await simulate(world.client, { raw: second.raw, replaceBlockhash: false })
  await world.land(second.raw)
  await world.land(first.raw)

  expect(simulated.kind).not.toBe('ok')
  expect([await isFailed(first.txHash), await isFailed(second.txHash)]).toEqual([false, true])
  expect(await balanceOf(to, usdc)).toBe(7n)
})

test('lamports of a stranger at the address of a marker do not stop its delivery', async () => {
  const to = await newAddress()
  const of = { to, token: usdc, amount: 9n, createRecipientAccount: true, op: nextOp() }
  const { deliveryHash } = await world.payment(of)
  await world.send(await markerOf(deliveryHash), world.rent.emptyLamports)

  const paid = await pay(of)

  expect(await isFailed(paid.txHash)).toBe(false)
  expect(await balanceOf(to, usdc)).toBe(9n)
})

test('a delivery after its deadline pays nothing, whatever was signed', async () => {
  const to = await newAddress()
  const fillDeadline = Math.floor(Date.now() / 1_000) + 1_000
  const of = { to, token: NATIVE_TOKEN, amount: SOL, op: nextOp(), fillDeadline }
  const signed = await world.pay(of)
  await world.dev.dev_advanceClock(2_000).send()
  await world.advance(1)

  await world.land(signed.raw)

  expect(await isFailed(signed.txHash)).toBe(true)
  expect(await balanceOf(to, NATIVE_TOKEN)).toBe(0n)
  const cost = await readCost(world, signed.txHash)
  expect(cost?.eventIds).toEqual([])
  expect(cost?.fee).toBeGreaterThan(0n)
})

test('an unlanded payment is expired once the finalized height is past its last valid one', async () => {
  const of = {
    to: await newAddress(),
    token: usdc,
    amount: 3n,
    createRecipientAccount: true,
    op: nextOp(),
  }
  const payment = await world.payment(of)
  const signed = await world.pay(payment)
  const { lastValidBlockHeight } = payment.lifetime
  await world.dev.dev_dropTransactions(1).send()
  await broadcast(world.client, signed.raw)

  await world.advance(151)
  const early = await readHeads(world.client)
  await world.advance(32)
  const late = await readHeads(world.client, early)

  expect(early.confirmed.height).toBeGreaterThan(lastValidBlockHeight)
  expect(early.finalized.height).toBeLessThanOrEqual(lastValidBlockHeight)
  expect(late.finalized.height).toBeGreaterThan(lastValidBlockHeight)
  expect(await simulate(world.client, { raw: signed.raw, replaceBlockhash: false })).toEqual({
    kind: 'blockhash',
  })
  expect((await simulate(world.client, { raw: signed.raw, replaceBlockhash: true })).kind).toBe('ok')
  await world.land(signed.raw).catch(() => {})
  expect(await isFailed(signed.txHash)).toBeUndefined()
  const marked = { addresses: [await markerOf(payment.deliveryHash)], commitment: 'finalized' } as const
  const minContextSlot = late.finalized.slot
  expect(await readAccounts(world.client, { ...marked, minContextSlot })).toEqual([undefined])
  await pay(of)
  expect(await balanceOf(of.to, usdc)).toBe(3n)
})

test('dropped bytes can be sent again, and land once', async () => {
  const to = await newAddress()
  const of = { to, token: usdc, amount: 3n, createRecipientAccount: true, op: nextOp() }
  const signed = await world.pay(of)
  await world.dev.dev_dropTransactions(2).send()

  for (let time = 0; time < 5; time += 1) await world.land(signed.raw)

  expect(await balanceOf(to, usdc)).toBe(3n)
})

test('an account that requires a memo is refused: a payment by the program would fail', async () => {
  const owner = await world.fundedSigner()
  const account = await world.give(token2022, owner.address, 0n)
  const query = { recipient: owner.address, token: token2022, amount: 4n, rent: world.rent }
  expect((await readRecipient(world.client, query)).kind).toBe('ready')
  await world.run(owner, requireMemo(owner, account))

  const paid = await pay({ to: owner.address, token: token2022, amount: 4n, op: nextOp() })

  expect(await isFailed(paid.txHash)).toBe(true)
  expect(await readRecipient(world.client, query)).toEqual({ kind: 'refused', why: 'requiresMemo' })
})

/** Token-2022's instructions 29 (reallocate, for extension 8) and 30, 0 (memos are required). */
function requireMemo(owner: { address: Address }, account: Address): Instruction[] {
  const programAddress = TOKEN_2022_PROGRAM_ADDRESS
  const target = { address: account, role: AccountRole.WRITABLE }
  const signer = { address: owner.address, role: AccountRole.WRITABLE_SIGNER, signer: owner }
  const system = { address: NATIVE_SOL as Address, role: AccountRole.READONLY }
  return [
    { programAddress, accounts: [target, signer, system, signer], data: new Uint8Array([29, 8, 0]) },
    { programAddress, accounts: [target, signer], data: new Uint8Array([30, 0]) },
  ]
}

test('the fee payer funds the marker and the account of the recipient, and has no other role', async () => {
  const of: Partial<Payment>[] = [
    { token: usdc, createRecipientAccount: true },
    { token: token2022 },
    { token: NATIVE_TOKEN },
  ]
  const { feePayer, escrow, rent } = world
  const payers = { ...escrow, feePayer: feePayer.address as string, markerLamports: rent.markerLamports }
  for (const { token = usdc, ...more } of of) {
    const paid = await world.pay({ to: await newAddress(), token, amount: 1n, ...more })
    const { raw, deliveryHash } = paid
    const compiled = getCompiledTransactionMessageDecoder().decode(messageOf(raw))
    const instructions: readonly Instruction[] = decompileTransactionMessage(compiled).instructions

    const places = instructions.flatMap(({ accounts = [], programAddress }) =>
      accounts.flatMap(({ address }) => (address === feePayer.address ? [programAddress] : [])),
    )
    const creator = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
    expect(places).toEqual([...(more.createRecipientAccount ? [creator] : []), escrow.program])
    const memo = new TextDecoder().decode(Uint8Array.from(instructions[2]?.data ?? []))
    expect(memo).toBe(deliveryHash.slice(2))
  }
  const self = await world.payment({ to: feePayer.address, token: usdc, amount: 1n })
  await expect(compilePayment(payers, self)).rejects.toThrow('takes no part')
  const same = { ...payers, feePayer: escrow.vault }
  await expect(compilePayment(same, { ...self, to: usdc.mint })).rejects.toThrow('takes no part')
})

test('the compute limits leave room above the units that each transaction uses', async () => {
  const { address: known } = await generateKeyPairSigner()
  const used = async (of: Partial<Payment> & Pick<Payment, 'token'>) => {
    const to = of.createRecipientAccount ? await newAddress() : known
    const amount = world.rent.emptyLamports
    const { raw } = await world.pay({ to, amount, op: nextOp(), ...of })
    const simulated = await simulate(world.client, { raw, replaceBlockhash: false })
    if (simulated.kind !== 'ok') throw new Error(simulated.kind)
    expect(wireOf(raw).length).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
    return Number(simulated.units)
  }
  for (const token of [usdc, token2022]) await world.give(token, known, 0n)
  const wallet = await world.fundedSigner()
  for (const token of [usdc, token2022]) await world.give(token, wallet.address, 1n)

  for (const token of [usdc, token2022, NATIVE_TOKEN]) {
    expect((await used({ token })) * 1.5).toBeLessThan(PAYMENT_UNITS)
    const built = await world.input({ wallet: wallet.address, token, amount: 1n, opHash: nextOp() })
    const input = await simulate(world.client, { raw: built.unsignedTransaction, replaceBlockhash: false })
    expect(input.kind === 'ok' && input.units < BigInt(INPUT_UNITS)).toBe(true)
  }
  // The units of a creation depend on the address: each tried address on the curve costs another round.
  for (const token of Array.from({ length: 10 }, () => [usdc, token2022]).flat()) {
    const units = await used({ token, createRecipientAccount: true })
    expect(units).toBeLessThan(paymentUnits({ createAccount: true }))
  }
})

test('costs are fees of signatures, the priority fee rounded up, and the rent that does not return', () => {
  const { rent } = world
  const free = { rent, microLamportsPerUnit: 0n }
  const token = usdc

  expect(inputCostLamports(0n)).toBe(20_000n)
  expect(inputCostLamports(1n)).toBe(20_002n)
  expect(paymentCostLamports(free, { token, createAccount: true })).toBe(15_000n + 2_039_280n)
  expect(paymentCostLamports(free, { token: token2022, createAccount: true })).toBe(15_000n + 2_074_080n)
  expect(paymentCostLamports(free, { token: NATIVE_TOKEN, createAccount: true })).toBe(15_000n)
})
