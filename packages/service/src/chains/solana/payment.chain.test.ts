import {
  AccountRole,
  type Address,
  decompileTransactionMessage,
  generateKeyPairSigner,
  getCompiledTransactionMessageDecoder,
  type Instruction,
} from '@solana/kit'
import { getTransferSolWithSeedInstruction } from '@solana-program/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  MARKER_KEY,
  OP_HASH,
  SOL,
  type SolanaWorld,
  startSolanaWorld,
  type TestMint,
} from '../../../test/support/solana.ts'
import { readTransactionAmount } from '../../../test/support/solana-amount.ts'
import { messageOf, wireOf } from '../../../test/support/solana-wallet.ts'
import { readAccounts, toTokenAccountAddress } from './accounts.ts'
import { NATIVE_SOL } from './address.ts'
import { INPUT_UNITS, inputCostLamports, paymentCostLamports, paymentUnits } from './fees.ts'
import { readHeads } from './heads.ts'
import { transferInstruction } from './instructions.ts'
import { toMarker } from './marker.ts'
import { findMarkerTransaction } from './marker-history.ts'
import { NATIVE_TOKEN } from './mint.ts'
import { buildPayment, draftPayment, type Payment } from './payment.ts'
import { readSignatures, readVaultBalances } from './reads.ts'
import { broadcast } from './send.ts'
import { simulate } from './simulate.ts'
import { TOKEN_2022_PROGRAM_ADDRESS } from './token-layout.ts'

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
  const signed = await buildPayment(world.vault, await world.payment(of))
  await world.land(signed.raw)
  return signed
}

test.each([
  ['the token program', () => usdc],
  ['Token-2022', () => token2022],
])('a delivery of %s opens the account of the recipient at the quoted cost', async (_, tokenOf) => {
  const token = tokenOf()
  const to = await newAddress()
  const lamportsBefore = (await world.client.rpc.getBalance(world.feePayer.address).send()).value

  const paid = await pay({ to, token, amount: 5_000n, createRecipientAccount: true, opHash: nextOp() })

  expect(await isFailed(paid.txHash)).toBe(false)
  expect(await balanceOf(to, token)).toBe(5_000n)
  const account = await toTokenAccountAddress({ owner: to, mint: token.mint, program: token.program })
  expect(await readTransactionAmount(world.client, { txHash: paid.txHash, account, token })).toMatchObject({
    failed: false,
    amount: 5_000n,
  })
  const lamportsAfter = (await world.client.rpc.getBalance(world.feePayer.address).send()).value
  expect(lamportsBefore - lamportsAfter).toBe(
    paymentCostLamports({ rent: world.rent, microLamportsPerUnit: 1_000n }, { token, createAccount: true }),
  )
})

test('a native delivery reaches an address that never existed', async () => {
  const to = await newAddress()

  const paid = await pay({ to, token: NATIVE_TOKEN, amount: SOL, opHash: nextOp() })

  expect(await isFailed(paid.txHash)).toBe(false)
  expect(await balanceOf(to, NATIVE_TOKEN)).toBe(SOL)
  const read = { txHash: paid.txHash, account: to, token: { mint: NATIVE_SOL } }
  expect((await readTransactionAmount(world.client, read))?.amount).toBe(SOL)
})

test('a second signed delivery of one op cannot land', async () => {
  const to = await newAddress()
  const of = { to, token: usdc, amount: 7n, createRecipientAccount: true, opHash: nextOp() }
  const first = await buildPayment(world.vault, await world.payment(of))
  await world.advance(1)
  const second = await buildPayment(world.vault, await world.payment({ ...of, amount: 8n }))
  expect(second.marker).toEqual(first.marker)

  await world.land(first.raw)
  const simulated = await simulate(world.client, { raw: second.raw, replaceBlockhash: false })
  await world.land(second.raw)
  await world.land(first.raw)

  expect(simulated).toEqual({ kind: 'alreadyInUse' })
  expect([await isFailed(first.txHash), await isFailed(second.txHash)]).toEqual([false, true])
  expect(await balanceOf(to, usdc)).toBe(7n)
})

test('input, delivery and exit of one op have markers of their own, and so has each generation', async () => {
  const kinds = ['input', 'deliver', 'exit'] as const
  const markers = await Promise.all(
    kinds.flatMap((kind) =>
      [0, 1].map((generation) =>
        toMarker({ key: MARKER_KEY, opHash: OP_HASH, kind, generation, base: world.authority.address }),
      ),
    ),
  )

  expect(new Set(markers.map(({ address }) => address)).size).toBe(6)
  for (const { seed } of markers) expect(seed).toMatch(/^[0-9a-f]{32}$/)
})

test('a marker funded by a stranger stops its generation, and the next one delivers once', async () => {
  const to = await newAddress()
  const of = { to, token: usdc, amount: 9n, createRecipientAccount: true, opHash: nextOp() }
  const first = await buildPayment(world.vault, await world.payment(of))
  await world.send(first.marker.address, world.rent.emptyLamports)

  await world.land(first.raw)
  expect(await isFailed(first.txHash)).toBe(true)
  const history = { marker: first.marker, opId: of.opHash }
  expect(await findMarkerTransaction(world.client, history)).toBeUndefined()
  const next = await pay({ ...of, generation: 1 })

  expect(await balanceOf(to, usdc)).toBe(9n)
  const found = await findMarkerTransaction(world.client, { marker: next.marker, opId: of.opHash })
  expect(found?.txHash).toBe(next.txHash)
  // The vault receives the stranger's lamports.
  const before = await balanceOf(world.intake.address, NATIVE_TOKEN)
  await world.run(world.payer, [
    getTransferSolWithSeedInstruction({
      source: first.marker.address as Address,
      baseAccount: world.authority,
      destination: world.intake.address,
      amount: world.rent.emptyLamports,
      fromSeed: first.marker.seed,
      fromOwner: NATIVE_SOL as Address,
    }),
  ])
  expect((await balanceOf(world.intake.address, NATIVE_TOKEN)) - before).toBe(world.rent.emptyLamports)
})

test('strangers who fund a marker later do not hide the delivery', async () => {
  const opHash = nextOp()
  const paid = await pay({ to: await newAddress(), token: NATIVE_TOKEN, amount: SOL, opHash })
  for (const amount of [1n, 2n, 3n]) await world.send(paid.marker.address, amount)

  const found = await findMarkerTransaction(world.client, { marker: paid.marker, opId: opHash })

  expect(found?.txHash).toBe(paid.txHash)
})

test('an unlanded payment is expired once the finalized height is past its last valid one', async () => {
  const of = {
    to: await newAddress(),
    token: usdc,
    amount: 3n,
    createRecipientAccount: true,
    opHash: nextOp(),
  }
  const signed = await buildPayment(world.vault, await world.payment(of))
  await world.dev.dev_dropTransactions(1).send()
  await broadcast(world.client, signed.raw)

  await world.advance(151)
  const early = await readHeads(world.client)
  await world.advance(32)
  const late = await readHeads(world.client, early)

  expect(early.confirmed.height).toBeGreaterThan(signed.lastValidBlockHeight)
  expect(early.finalized.height).toBeLessThanOrEqual(signed.lastValidBlockHeight)
  expect(late.finalized.height).toBeGreaterThan(signed.lastValidBlockHeight)
  expect(await simulate(world.client, { raw: signed.raw, replaceBlockhash: false })).toEqual({
    kind: 'blockhash',
  })
  expect((await simulate(world.client, { raw: signed.raw, replaceBlockhash: true })).kind).toBe('ok')
  await world.land(signed.raw).catch(() => {})
  expect(await isFailed(signed.txHash)).toBeUndefined()
  const marked = { addresses: [signed.marker.address], commitment: 'finalized' } as const
  const minContextSlot = late.finalized.slot
  expect(await readAccounts(world.client, { ...marked, minContextSlot })).toEqual([undefined])
  await pay(of)
  expect(await balanceOf(of.to, usdc)).toBe(3n)
})

test('dropped bytes can be sent again, and land once', async () => {
  const to = await newAddress()
  const of = { to, token: usdc, amount: 3n, createRecipientAccount: true, opHash: nextOp() }
  const signed = await buildPayment(world.vault, await world.payment(of))
  await world.dev.dev_dropTransactions(2).send()

  for (let time = 0; time < 5; time += 1) await world.land(signed.raw)

  expect(await balanceOf(to, usdc)).toBe(3n)
})

test('an account that requires a memo receives', async () => {
  const owner = await world.fundedSigner()
  const account = await world.give(token2022, owner.address, 0n)
  await world.run(owner, requireMemo(owner, account))
  const silent = { from: world.authority, to: owner.address, token: token2022, amount: 1n }
  await expect(world.run(world.payer, [await transferInstruction(silent)])).rejects.toThrow()

  await pay({ to: owner.address, token: token2022, amount: 4n, opHash: nextOp() })

  expect(await balanceOf(owner.address, token2022)).toBe(4n)
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

test('a simulation returns why a payment would fail, without a signature', async () => {
  const addresses: Record<'feePayer' | 'authority', string> = {
    feePayer: world.feePayer.address,
    authority: world.authority.address,
  }
  const vault = { ...world.vault, ...addresses }
  const poor = { ...vault, authority: await newAddress() }
  const owner = await world.fundedSigner()
  await world.give(usdc, owner.address, 0n)
  const kindOf = async (payer: typeof vault, of: Parameters<SolanaWorld['payment']>[0]) => {
    const payment = await world.payment({ opHash: nextOp(), ...of })
    const raw = await draftPayment(payer, payment)
    expect(
      wireOf(raw)
        .slice(1, 129)
        .every((byte) => byte === 0),
    ).toBe(true)
    return (await simulate(world.client, { raw, replaceBlockhash: true })).kind
  }

  expect(await kindOf(vault, { to: owner.address, token: usdc, amount: 1n })).toBe('ok')
  expect(await kindOf(vault, { to: owner.address, token: usdc, amount: 1n << 62n })).toBe('insufficientFunds')
  expect(await kindOf(vault, { to: await newAddress(), token: usdc, amount: 1n })).toBe('recipient')
  expect(await kindOf(vault, { to: await newAddress(), token: NATIVE_TOKEN, amount: 1n })).toBe('recipient')
  expect(await kindOf(vault, { to: owner.address, token: NATIVE_TOKEN, amount: 1_000n * SOL })).toBe(
    'insufficientFunds',
  )
  expect(await kindOf(poor, { to: owner.address, token: NATIVE_TOKEN, amount: 1n })).toBe('insufficientFunds')
  expect(
    await kindOf({ ...vault, feePayer: await newAddress() }, { to: owner.address, token: usdc, amount: 1n }),
  ).toBe('other')
})

test('the fee payer funds the marker and the account of the recipient, and has no other role', async () => {
  const of: Partial<Payment>[] = [
    { token: usdc, createRecipientAccount: true },
    { token: token2022 },
    { token: NATIVE_TOKEN },
  ]
  for (const { token = usdc, ...more } of of) {
    const payment = await world.payment({ to: await newAddress(), token, amount: 1n, ...more })
    const { raw } = await buildPayment(world.vault, payment)
    const compiled = getCompiledTransactionMessageDecoder().decode(messageOf(raw))
    const instructions: readonly Instruction[] = decompileTransactionMessage(compiled).instructions

    const places = instructions.flatMap(({ accounts = [] }) =>
      accounts.flatMap(({ address }, place) => (address === world.feePayer.address ? [place] : [])),
    )
    expect(places).toEqual(more.createRecipientAccount ? [0, 0] : [0])
    const memo = new TextDecoder().decode(Uint8Array.from(instructions.at(-2)?.data ?? []))
    expect(memo).toBe(OP_HASH.slice(2))
    expect(instructions.at(-1)?.data?.[0]).toBe(token === NATIVE_TOKEN ? 2 : 12)
  }
  const self = await world.payment({ to: world.feePayer.address, token: usdc, amount: 1n })
  await expect(buildPayment(world.vault, self)).rejects.toThrow('takes no part')
  const same = { ...world.vault, authority: world.feePayer }
  await expect(buildPayment(same, { ...self, to: usdc.mint })).rejects.toThrow('takes no part')
})

test('the compute limits leave room above the units that each transaction uses', async () => {
  const used = async (of: Partial<Payment> & Pick<Payment, 'token'>) => {
    const to = of.createRecipientAccount ? await newAddress() : world.intake.address
    const payment = await world.payment({ to, amount: 1n, opHash: nextOp(), ...of })
    const { raw } = await buildPayment(world.vault, payment)
    const simulated = await simulate(world.client, { raw, replaceBlockhash: false })
    if (simulated.kind !== 'ok') throw new Error(simulated.kind)
    expect(wireOf(raw).length).toBeLessThanOrEqual(of.createRecipientAccount ? 796 : 722)
    return Number(simulated.units)
  }
  for (const token of [usdc, token2022]) await world.give(token, world.intake.address, 0n)
  const wallet = await world.fundedSigner()
  for (const token of [usdc, token2022]) await world.give(token, wallet.address, 1n)

  for (const token of [usdc, token2022, NATIVE_TOKEN]) {
    expect((await used({ token })) * 10).toBeLessThan(paymentUnits({ createAccount: false }))
    const built = await world.input({ wallet: wallet.address, token, amount: 1n, opHash: nextOp() })
    const input = await simulate(world.client, { raw: built.unsignedTransaction, replaceBlockhash: false })
    expect(input.kind === 'ok' && input.units * 10n < BigInt(INPUT_UNITS)).toBe(true)
  }
  // The units of a creation depend on the address: each tried address on the curve costs another round.
  for (const token of Array.from({ length: 10 }, () => [usdc, token2022]).flat()) {
    const units = await used({ token, createRecipientAccount: true })
    expect(units).toBeLessThan(paymentUnits({ createAccount: true }))
  }
})

test('costs are the fee of two signatures, the priority fee rounded up, and rent', () => {
  const { rent } = world
  const free = { rent, microLamportsPerUnit: 0n }
  const token = usdc

  expect(inputCostLamports(free)).toBe(10_000n + 890_880n)
  expect(inputCostLamports({ rent, microLamportsPerUnit: 1n })).toBe(10_001n + 890_880n)
  expect(paymentCostLamports(free, { token, createAccount: true })).toBe(10_000n + 890_880n + 2_039_280n)
  expect(paymentCostLamports(free, { token: token2022, createAccount: true })).toBe(
    10_000n + 890_880n + 2_074_080n,
  )
  expect(paymentCostLamports(free, { token: NATIVE_TOKEN, createAccount: true })).toBe(10_000n + 890_880n)
})
