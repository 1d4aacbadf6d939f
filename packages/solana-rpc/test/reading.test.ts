import {
  type Base58EncodedBytes,
  generateKeyPairSigner,
  getAddressEncoder,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  getTransactionEncoder,
} from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import { getInitializeMint2Instruction } from '@solana-program/token'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../src/token-layout.ts'
import { SOL, startWorld, type World } from './world.ts'

// Slots are paused: each test advances time itself.
let world: World
beforeAll(async () => {
  world = await startWorld()
  await world.dev.dev_pauseSlots().send()
})
afterAll(() => world.chain.stop())

async function transferTo(amount = SOL) {
  const payer = await world.fundedSigner()
  const to = await generateKeyPairSigner()
  const transfer = getTransferSolInstruction({ source: payer, destination: to.address, amount })
  return { payer, to: to.address, transfer }
}

/** The first notifications of a subscription, as many as asked. */
async function take<Notification>(from: AsyncIterable<Notification>, count: number): Promise<Notification[]> {
  const taken: Notification[] = []
  for await (const notification of from) {
    taken.push(notification)
    if (taken.length === count) break
  }
  return taken
}

test('a signature subscription notifies when its commitment is reached, or was reached before', async () => {
  const { payer, transfer } = await transferTo()
  const signed = await world.sign(payer, [transfer])
  const signature = getSignatureFromTransaction(signed)
  const abortSignal = AbortSignal.timeout(20_000)
  const subscribe = (commitment: 'confirmed' | 'finalized') =>
    world.rpcSubscriptions.signatureNotifications(signature, { commitment }).subscribe({ abortSignal })
  const early = take(await subscribe('confirmed'), 1)

  const wire = getBase64EncodedWireTransaction(signed)
  await world.rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
  await world.dev.dev_advanceSlots(32).send()

  const late = take(await subscribe('finalized'), 1)
  await world.dev.dev_advanceSlots(1).send()

  expect((await early)[0]?.value).toEqual({ err: null })
  expect((await late)[0]?.value).toEqual({ err: null })
})

test('account, log and program subscriptions report the effects of a transaction', async () => {
  const { payer, to, transfer } = await transferTo()
  const abortSignal = AbortSignal.timeout(20_000)
  const subscriptions = world.rpcSubscriptions
  const commitment = 'confirmed'
  const accounts = await subscriptions
    .accountNotifications(to, { commitment, encoding: 'base64' })
    .subscribe({ abortSignal })
  const logs = await subscriptions
    .logsNotifications({ mentions: [to] }, { commitment })
    .subscribe({ abortSignal })
  const owned = await subscriptions
    .programNotifications('11111111111111111111111111111111' as typeof to, { commitment, encoding: 'base64' })
    .subscribe({ abortSignal })
  // The kit drops notifications that arrive before they are awaited.
  const told = Promise.all([take(accounts, 1), take(logs, 1), take(owned, 2)])

  const signature = await world.send(payer, [transfer])
  const slot = BigInt(await world.dev.dev_advanceSlots(1).send()) - 1n

  const [[account], [log], programs] = await told
  expect(account).toMatchObject({ context: { slot }, value: { lamports: SOL } })
  expect(log?.value).toMatchObject({ signature, err: null })
  const changed = programs.map(({ value }) => value.pubkey)
  expect(changed.sort()).toEqual([payer.address, to].sort())
})

test('a transaction sent as base58 is read back in every encoding', async () => {
  const { payer, to, transfer } = await transferTo()
  const signed = await world.sign(payer, [transfer])
  const wire = getBase58Decoder().decode(getTransactionEncoder().encode(signed)) as Base58EncodedBytes
  const signature = await world.rpc
    .sendTransaction(wire as never, { encoding: 'base58', preflightCommitment: 'processed' } as never)
    .send()
  await world.dev.dev_advanceSlots(1).send()
  const at = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const

  const json = await world.rpc.getTransaction(signature, { ...at, encoding: 'json' }).send()
  const parsed = await world.rpc.getTransaction(signature, { ...at, encoding: 'jsonParsed' }).send()
  const base64 = await world.rpc.getTransaction(signature, { ...at, encoding: 'base64' }).send()

  expect(json?.transaction.message.accountKeys.slice(0, 2)).toEqual([payer.address, to])
  expect(json?.version).toBe(0)
  expect(json?.meta).toMatchObject({
    fee: 5000n,
    computeUnitsConsumed: 150n,
    loadedAddresses: { writable: [] },
  })
  expect(parsed?.transaction.message.accountKeys[0]).toMatchObject({
    ...{ pubkey: payer.address, signer: true, writable: true, source: 'transaction' },
  })
  expect(base64?.transaction).toEqual([
    Buffer.from(getTransactionEncoder().encode(signed)).toString('base64'),
    'base64',
  ])
})

test('a transaction is in the block of its slot, which follows the previous block', async () => {
  const { payer, transfer } = await transferTo()
  const signature = await world.send(payer, [transfer])
  const slot = await world.rpc.getSlot({ commitment: 'processed' }).send()
  await world.dev.dev_advanceSlots(1).send()
  const config = {
    commitment: 'confirmed',
    transactionDetails: 'signatures',
    maxSupportedTransactionVersion: 0,
  } as const

  const block = await world.rpc.getBlock(slot, config).send()
  const parent = await world.rpc.getBlock(slot - 1n, config).send()

  expect(block?.signatures).toContain(signature)
  expect(block).toMatchObject({
    parentSlot: slot - 1n,
    blockHeight: slot,
    previousBlockhash: parent?.blockhash,
  })
  expect(await world.rpc.getBlocks(slot - 2n, slot, { commitment: 'confirmed' }).send()).toEqual([
    ...[slot - 2n, slot - 1n, slot],
  ])
  expect(await world.rpc.getBlockTime(slot).send()).toBe(block?.blockTime)
})

test('a status older than the cache of recent blocks is found only by searching history', async () => {
  const { payer, transfer } = await transferTo()
  const signature = await world.send(payer, [transfer])
  await world.dev.dev_advanceSlots(151).send()

  const recent = await world.rpc.getSignatureStatuses([signature]).send()
  const searched = await world.rpc
    .getSignatureStatuses([signature], { searchTransactionHistory: true })
    .send()

  expect(recent.value).toEqual([null])
  expect(searched.value[0]).toMatchObject({ confirmationStatus: 'finalized', confirmations: null, err: null })
})

test('a Token-2022 mint shows its extensions by name and state', async () => {
  const payer = await world.fundedSigner()
  const mint = await generateKeyPairSigner()
  // 165 bytes of padded mint, the type byte, and one entry: type, length and the delegate's address.
  const space = 165n + 1n + 4n + 32n
  const rent = await world.rpc.getMinimumBalanceForRentExemption(space).send()
  const create = { payer, newAccount: mint, lamports: rent, space, programAddress: TOKEN_2022_PROGRAM }
  const initialize = { mint: mint.address, decimals: 9, mintAuthority: payer.address }
  await world.send(payer, [
    getCreateAccountInstruction(create),
    {
      programAddress: TOKEN_2022_PROGRAM,
      accounts: [{ address: mint.address, role: 1 }],
      // Instruction 35 of Token-2022: InitializePermanentDelegate.
      data: Uint8Array.from([35, ...getAddressEncoder().encode(payer.address)]),
    },
    getInitializeMint2Instruction(initialize, { programAddress: TOKEN_2022_PROGRAM }),
  ])

  const { value } = await world.rpc
    .getAccountInfo(mint.address, { encoding: 'jsonParsed', commitment: 'processed' })
    .send()

  const extensions = [{ extension: 'permanentDelegate', state: { delegate: payer.address } }]
  expect(value?.data).toMatchObject({
    program: 'spl-token-2022',
    parsed: { info: { decimals: 9, extensions } },
  })
})

test('accounts of a program are found by size and content, and sliced as asked', async () => {
  const payer = await world.fundedSigner()
  const mint = await generateKeyPairSigner()
  const rent = await world.rpc.getMinimumBalanceForRentExemption(82n).send()
  const create = { payer, newAccount: mint, lamports: rent, space: 82n, programAddress: TOKEN_PROGRAM }
  const initialize = { mint: mint.address, decimals: 3, mintAuthority: payer.address }
  await world.send(payer, [getCreateAccountInstruction(create), getInitializeMint2Instruction(initialize)])
  const bytes = payer.address as string as Base58EncodedBytes

  const found = await world.rpc
    .getProgramAccounts(TOKEN_PROGRAM, {
      commitment: 'processed',
      encoding: 'base64',
      dataSlice: { offset: 44, length: 1 },
      filters: [{ dataSize: 82n }, { memcmp: { offset: 4n, bytes, encoding: 'base58' } }],
    })
    .send()
  const { value } = await world.rpc
    .getMultipleAccounts([mint.address, payer.address], { commitment: 'finalized', encoding: 'base64' })
    .send()

  expect(found.map(({ pubkey, account }) => [pubkey, account.data])).toEqual([
    [mint.address, ['Aw==', 'base64']],
  ])
  expect(value).toEqual([null, null])
})

test('a second chain has another genesis and refuses transactions of the first', async () => {
  const other = await startWorld()
  const { payer, transfer } = await transferTo()
  const signed = await world.sign(payer, [transfer])
  const wire = Buffer.from(getTransactionEncoder().encode(signed)).toString('base64')

  const { text } = await other.post(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'sendTransaction',
      params: [wire, { encoding: 'base64' }],
    }),
  )

  expect(text).toContain('Blockhash not found')
  expect(await other.rpc.getGenesisHash().send()).not.toBe(await world.rpc.getGenesisHash().send())
  await other.chain.stop()
})
