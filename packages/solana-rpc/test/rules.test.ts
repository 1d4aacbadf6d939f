import {
  type Base64EncodedWireTransaction,
  createAddressWithSeed,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  getTransactionEncoder,
  isSolanaError,
  SOLANA_ERROR__BLOCK_HEIGHT_EXCEEDED,
  SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
  SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
  type Transaction,
} from '@solana/kit'
import {
  getCreateAccountInstruction,
  getCreateAccountWithSeedInstruction,
  getTransferSolInstruction,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failureOf, SOL, startWorld, type World } from './world.ts'

const PREFLIGHT_FAILURE = SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE

// Slots are paused: each test advances time itself.
let world: World
beforeAll(async () => {
  world = await startWorld()
  await world.dev.dev_pauseSlots().send()
})
afterAll(() => world.chain.stop())

type Commitments = { commitment: 'processed' | 'confirmed' | 'finalized' }

async function signTransfer(amount = SOL) {
  const payer = await world.fundedSigner()
  const to = await generateKeyPairSigner()
  const transfer = getTransferSolInstruction({ source: payer, destination: to.address, amount })
  const signed = await world.sign(payer, [transfer])
  return { payer, to: to.address, signed, signature: getSignatureFromTransaction(signed) }
}

function send(signed: Transaction, options: { skipPreflight?: boolean; minContextSlot?: bigint } = {}) {
  const wire = getBase64EncodedWireTransaction(signed)
  const preflight = { encoding: 'base64', preflightCommitment: 'processed' } as const
  return world.rpc.sendTransaction(wire, { ...preflight, ...options }).send()
}

async function statusOf(signature: Awaited<ReturnType<typeof signTransfer>>['signature']) {
  const { value } = await world.rpc.getSignatureStatuses([signature]).send()
  return value[0]
}

function causeOf(error: unknown): unknown {
  if (!isSolanaError(error, PREFLIGHT_FAILURE)) throw error
  return error.cause
}

test('a balance is seen as processed, then confirmed, then finalized', async () => {
  const { to, signed, signature } = await signTransfer()
  const balances = async () => {
    const read = async (at: Commitments) => (await world.rpc.getBalance(to, at).send()).value
    const levels = ['processed', 'confirmed', 'finalized'] as const
    return Promise.all(levels.map((commitment) => read({ commitment })))
  }

  await send(signed)

  expect(await balances()).toEqual([SOL, 0n, 0n])
  expect(await statusOf(signature)).toMatchObject({ confirmationStatus: 'processed', confirmations: 0n })
  await world.dev.dev_advanceSlots(1).send()
  expect(await balances()).toEqual([SOL, SOL, 0n])
  expect(await statusOf(signature)).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 1n })
  await world.dev.dev_advanceSlots(30).send()
  expect(await balances()).toEqual([SOL, SOL, 0n])
  await world.dev.dev_advanceSlots(1).send()
  expect(await balances()).toEqual([SOL, SOL, SOL])
  expect(await statusOf(signature)).toMatchObject({ confirmationStatus: 'finalized', confirmations: null })
})

test('the three commitments have their configured lags, and block heights equal slots', async () => {
  const slot = await world.rpc.getSlot({ commitment: 'processed' }).send()

  expect(await world.rpc.getSlot({ commitment: 'confirmed' }).send()).toBe(slot - 1n)
  expect(await world.rpc.getSlot({ commitment: 'finalized' }).send()).toBe(slot - 32n)
  expect(await world.rpc.getBlockHeight({ commitment: 'finalized' }).send()).toBe(slot - 32n)
  const { value } = await world.rpc.getLatestBlockhash({ commitment: 'finalized' }).send()
  expect(value.lastValidBlockHeight).toBe(slot - 32n + 150n)
})

test('a blockhash is valid for 150 blocks and not one more', async () => {
  const first = await signTransfer()
  const { blockhash, lastValidBlockHeight } = first.signed.lifetimeConstraint
  const isValid = async () =>
    (await world.rpc.isBlockhashValid(blockhash, { commitment: 'processed' }).send()).value
  const height = await world.rpc.getBlockHeight({ commitment: 'processed' }).send()

  await world.dev.dev_advanceSlots(Number(lastValidBlockHeight - height)).send()
  expect(await isValid()).toBe(true)
  await world.dev.dev_advanceSlots(1).send()

  expect(await isValid()).toBe(false)
  const error = causeOf(await failureOf(send(first.signed)))
  expect(isSolanaError(error, SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND)).toBe(true)
  await send(first.signed, { skipPreflight: true })
  expect(await statusOf(first.signature)).toBeNull()
})

test('the kit stops waiting for a dropped transaction when its blockhash has expired', async () => {
  const { signed, signature } = await signTransfer()
  await world.dev.dev_dropTransactions(1).send()

  const outcome = failureOf(world.sendAndConfirm(signed, { commitment: 'confirmed' }))
  while (!(await Promise.race([outcome.then(() => true), advanceUnsettled(25)])));

  expect(isSolanaError(await outcome, SOLANA_ERROR__BLOCK_HEIGHT_EXCEEDED)).toBe(true)
  expect(await statusOf(signature)).toBeNull()
})

async function advanceUnsettled(slots: number): Promise<boolean> {
  await world.dev.dev_advanceSlots(slots).send()
  return false
}

test('a dropped transaction lands when the same bytes are sent again', async () => {
  const { signed, signature } = await signTransfer()
  await world.dev.dev_dropTransactions({ count: 1 }).send()

  expect(await send(signed)).toBe(signature)
  expect(await statusOf(signature)).toBeNull()
  await send(signed)

  expect(await statusOf(signature)).toMatchObject({ err: null })
})

test('random drops are repeatable with the same seed', async () => {
  const landings = async () => {
    await world.dev.dev_dropTransactions({ probability: 0.5, seed: 7 }).send()
    const landed: boolean[] = []
    for (let count = 0; count < 10; count += 1) {
      const { signed, signature } = await signTransfer()
      await send(signed)
      landed.push((await statusOf(signature)) !== null)
    }
    await world.dev.dev_dropTransactions(0).send()
    return landed
  }
  const first = await landings()

  expect(await landings()).toEqual(first)
  expect(new Set(first).size).toBe(2)
})

test('a delayed transaction lands later, exactly once, even if it is sent again meanwhile', async () => {
  const { signed, signature, to } = await signTransfer()
  await world.dev.dev_delayTransactions({ count: 1, slots: 5 }).send()

  await send(signed)
  await world.dev.dev_advanceSlots(4).send()
  expect(await statusOf(signature)).toBeNull()
  await send(signed)
  await world.dev.dev_advanceSlots(5).send()

  expect(await statusOf(signature)).toMatchObject({ err: null })
  expect((await world.rpc.getBalance(to, { commitment: 'processed' }).send()).value).toBe(SOL)
})

test('a transaction sent twice is refused as already processed and transfers once', async () => {
  const { signed, to } = await signTransfer()
  await send(signed)

  const error = causeOf(await failureOf(send(signed)))
  await send(signed, { skipPreflight: true })

  expect(isSolanaError(error, SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED)).toBe(true)
  expect((await world.rpc.getBalance(to, { commitment: 'processed' }).send()).value).toBe(SOL)
})

test('a failing instruction is refused in preflight with its cause, logs and units', async () => {
  const { signed, signature } = await signTransfer(1_000n * SOL)

  const error = await failureOf(send(signed))

  expect(isSolanaError(causeOf(error), SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM)).toBe(true)
  expect(error).toMatchObject({
    cause: { context: { code: 1, index: 0 } },
    context: {
      unitsConsumed: 150n,
      logs: expect.arrayContaining([expect.stringContaining('insufficient lamports')]),
    },
  })
  expect(await statusOf(signature)).toBeNull()
})

test('a failing transaction past preflight lands with its error and pays its fee', async () => {
  const { payer, signed, signature } = await signTransfer(1_000n * SOL)

  await send(signed, { skipPreflight: true })

  expect(await statusOf(signature)).toMatchObject({ err: { InstructionError: [0n, { Custom: 1n }] } })
  const { value } = await world.rpc.getBalance(payer.address, { commitment: 'processed' }).send()
  expect(value).toBe(10n * SOL - 5000n)
})

test('a tampered or missing signature is refused, and never lands past preflight', async () => {
  const { payer, to, signed, signature } = await signTransfer()
  const bytes = new Uint8Array(getTransactionEncoder().encode(signed))
  const sendBytes = (wire: Uint8Array, skipPreflight = false) => {
    const text = Buffer.from(wire).toString('base64') as Base64EncodedWireTransaction
    return world.rpc.sendTransaction(text, { encoding: 'base64', skipPreflight }).send()
  }
  const tampered = bytes.with(10, (bytes[10] ?? 0) ^ 1)
  const missing = bytes.map((byte, index) => (index >= 1 && index < 65 ? 0 : byte))

  for (const wire of [tampered, missing]) {
    const error = await failureOf(sendBytes(wire))
    expect(
      isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE),
    ).toBe(true)
    await sendBytes(wire, true)
  }

  expect((await world.rpc.getBalance(to, { commitment: 'processed' }).send()).value).toBe(0n)
  expect((await world.rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value).toBe(
    10n * SOL,
  )
  expect(await statusOf(signature)).toBeNull()
})

test('a minContextSlot in the future is refused for reads and sends', async () => {
  const { payer, signed } = await signTransfer()
  const slot = await world.rpc.getSlot({ commitment: 'processed' }).send()
  const minContextSlot = slot + 1n
  const code = SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED

  const read = await failureOf(
    world.rpc.getBalance(payer.address, { commitment: 'processed', minContextSlot }).send(),
  )
  const lagging = await failureOf(
    world.rpc.getBlockHeight({ commitment: 'finalized', minContextSlot: slot }).send(),
  )

  expect(isSolanaError(read, code) && read.context.contextSlot).toBe(slot)
  expect(isSolanaError(lagging, code) && lagging.context.contextSlot).toBe(slot - 32n)
  expect(isSolanaError(await failureOf(send(signed, { minContextSlot })), code)).toBe(true)
  await send(signed, { minContextSlot: slot })
})

test('an account with a seed can be created once, the second time is custom error 0x0', async () => {
  const payer = await world.fundedSigner()
  const seed = 'delivery'
  const newAccount = await createAddressWithSeed({
    baseAddress: payer.address,
    programAddress: SYSTEM_PROGRAM_ADDRESS,
    seed,
  })
  const rent = await world.rpc.getMinimumBalanceForRentExemption(0n).send()
  const create = (amount: bigint) =>
    getCreateAccountWithSeedInstruction({
      ...{ payer, newAccount, base: payer.address, seed, amount, space: 0n },
      programAddress: SYSTEM_PROGRAM_ADDRESS,
    })

  await world.send(payer, [create(rent)])
  const error = await failureOf(world.send(payer, [create(rent + 1n)]))
  const landed = await world.send(payer, [create(rent + 2n)], { skipPreflight: true })

  expect(isSolanaError(causeOf(error), SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM)).toBe(true)
  expect(await statusOf(landed)).toMatchObject({ err: { InstructionError: [0n, { Custom: 0n }] } })
})

test('of two transactions that create the same account, both signed in time, the second fails', async () => {
  const [payer, other, account] = await Promise.all([
    world.fundedSigner(),
    world.fundedSigner(),
    generateKeyPairSigner(),
  ])
  const rent = await world.rpc.getMinimumBalanceForRentExemption(0n).send()
  const create = (from: typeof payer) =>
    getCreateAccountInstruction({
      ...{ payer: from, newAccount: account, lamports: rent, space: 0n },
      programAddress: SYSTEM_PROGRAM_ADDRESS,
    })
  const [first, second] = [await world.sign(payer, [create(payer)]), await world.sign(other, [create(other)])]

  await send(first)
  await send(second, { skipPreflight: true })

  expect(await statusOf(getSignatureFromTransaction(first))).toMatchObject({ err: null })
  expect(await statusOf(getSignatureFromTransaction(second))).toMatchObject({
    err: { InstructionError: [0n, { Custom: 0n }] },
  })
})

test('a simulation shows the accounts after it, needs no signature, and changes nothing', async () => {
  const { to, signed, payer } = await signTransfer()
  const wire = getBase64EncodedWireTransaction({ ...signed, signatures: { [payer.address]: null } })

  const { value } = await world.rpc
    .simulateTransaction(wire, {
      encoding: 'base64',
      replaceRecentBlockhash: true,
      commitment: 'confirmed',
      accounts: { addresses: [to], encoding: 'base64' },
    })
    .send()

  expect(value.err).toBeNull()
  expect(value.accounts[0]?.lamports).toBe(SOL)
  expect(value.fee).toBe(5000n)
  expect((await world.rpc.getBalance(to, { commitment: 'processed' }).send()).value).toBe(0n)
})

test('a preflight uses the state of its commitment', async () => {
  const payer = await generateKeyPairSigner()
  await world.dev.dev_setAccount(payer.address, { lamports: Number(SOL) }).send()
  const transfer = getTransferSolInstruction({ source: payer, destination: payer.address, amount: 1n })
  const signed = await world.sign(payer, [transfer], 'finalized')
  const wire = getBase64EncodedWireTransaction(signed)
  const simulate = async (at: Commitments) =>
    (await world.rpc.simulateTransaction(wire, { encoding: 'base64', ...at }).send()).value.err

  expect(await simulate({ commitment: 'processed' })).toBeNull()
  expect(await simulate({ commitment: 'finalized' })).toBe('AccountNotFound')
  await world.dev.dev_advanceSlots(32).send()
  expect(await simulate({ commitment: 'finalized' })).toBeNull()
})

test('unknown methods and bad parameters are refused with their code', async () => {
  const unknown = world.rpc as typeof world.rpc & { getNothing(): { send(): Promise<unknown> } }
  const wire = Buffer.from('nonsense').toString('base64') as Base64EncodedWireTransaction

  const method = await failureOf(unknown.getNothing().send())
  const param = await failureOf(world.rpc.sendTransaction(wire, { encoding: 'base64' }).send())

  expect(isSolanaError(method, SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND)).toBe(true)
  expect(isSolanaError(param, SOLANA_ERROR__JSON_RPC__INVALID_PARAMS)).toBe(true)
})
