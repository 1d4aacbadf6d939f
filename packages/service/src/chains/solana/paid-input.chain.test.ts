import { setTimeout as delay } from 'node:timers/promises'
import { findAuthority } from '@geoswap/solana-escrow'
import { type Address, address, type KeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld, type TestMint } from '../../../test/support/solana.ts'
import { signAsWallet } from '../../../test/support/solana-wallet.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import type { Chain, InputBuilder, PaymentOffer } from '../chain.ts'
import { readAccounts, TOKEN_2022_PROGRAM_ADDRESS, toTokenAccount } from './accounts.ts'
import { createInputBuilder } from './builder.ts'
import { createSolanaChain } from './chain.ts'
import { eventsOf } from './custody-events.ts'
import { termsOf } from './facts.ts'
import { feeLamports, OPEN_UNITS } from './fees.ts'
import { readBlocks } from './heads.ts'
import { inputInstructions } from './input.ts'
import { budgetInstructions, compile, transferInstruction } from './message.ts'
import { creationHash, isClosable, splitRaw } from './paid-input.ts'
import { createSolanaParts, type SolanaParts } from './parts.ts'
import { planPublicRefund } from './plans.ts'
import { readTransaction } from './transaction.ts'

const AMOUNT = 25_000_000n
const UNITS = 20_000
const tokens: string[] = []

let world: SolanaWorld
let parts: SolanaParts
let chain: Chain
let builder: InputBuilder
let usdc: TestMint
beforeAll(async () => {
  world = await startSolanaWorld()
  usdc = await world.createMint()
  tokens.push(usdc.mint)
  const { client, escrow, feePayer, payer } = world
  const feePayers = { input: feePayer.address, delivery: payer.address }
  const priorityPrice = { floor: 1_000n, cap: 1_000_000n }
  const settings = { ...escrow, chainId: 1, feePayers, tokens, priorityPrice }
  parts = createSolanaParts({ client, settings, signers: [feePayer], ringOf: () => `0x${'00'.repeat(32)}` })
  chain = createSolanaChain(parts)
  builder = createInputBuilder(parts, { blockMs: 400 })
})
afterAll(() => world.chain.stop())

type Ordered = { op: Op; wallet: KeyPairSigner; offer: PaymentOffer; destination: string }
let ops = 0

/** An offer to a wallet that holds the amount. */
async function order(token = usdc, refundSeconds = 7_200): Promise<Ordered> {
  ops += 1
  const wallet = await world.fundedSigner()
  await world.give(token, wallet.address, AMOUNT)
  const refundDeadline = Math.floor(Date.now() / 1_000) + refundSeconds
  const op = stub<Op>({
    ...{ hash: `0x${ops.toString(16).padStart(64, '0')}`, wallet: wallet.address, method: 'payment' },
    ...{ inputToken: token.mint, inputAmount: AMOUNT, locker: world.feePayer.address, refundDeadline },
    ...{ position: 0n, walletBlock: 0n },
  })
  const { hash: opHash, locker, inputAmount: amount, inputToken } = op
  const asked = { opHash, wallet: op.wallet, token: inputToken, amount, locker, refundDeadline }
  const offer = await builder.offer(asked)
  return { op, wallet, offer, destination: await parts.addresses.inputOf(op) }
}

/** The transaction that a payer makes of an offer, as the public client does. */
async function toTransaction({ op, wallet, offer }: Ordered, units = UNITS, written = {}): Promise<string> {
  const token = { ...(await parts.facts.tokenOf(op.inputToken)), ...written }
  const { wallet: owner, inputAmount: amount, refundDeadline } = op
  const { feePayer, recentBlockhash: blockhash } = offer
  const input = { opHash: op.hash, wallet: owner, token, amount, feePayer, refundDeadline }
  const [memo, , transfer] = await inputInstructions(parts.settings, input)
  if (!memo || !transfer) throw new Error('No input')
  const budget = budgetInstructions({ units, microLamportsPerUnit: 1n })
  const lifetime = { blockhash, lastValidBlockHeight: 0n }
  const wire = compile({ feePayer, lifetime, instructions: [...budget, transfer, memo] })
  return signAsWallet(wallet, Buffer.from(wire).toString('base64'))
}

async function toSwap(ordered: Ordered): Promise<Swap> {
  const paid = await builder.readPaid(await toTransaction(ordered))
  if (!paid) throw new Error('Not a payment')
  return stub<Swap>({ op: ordered.op, signature: paid.signedTransaction, lastValid: paid.lastValid })
}

async function sign(swap: Swap) {
  const request = await chain.planLock([swap])
  const terms = await chain.readTerms((await readBlocks(world.client)) as never)
  return chain.sign(request, { sender: world.feePayer.address, terms })
}

/** Makes blocks while it is sent. */
async function send(raw: string): Promise<void> {
  let isSent = false
  const sending = chain.broadcast(raw).finally(() => {
    isSent = true
  })
  while (!isSent) {
    await world.advance(1)
    await delay(50)
  }
  await sending
  await world.advance(1)
}

async function heldAt(account: string): Promise<bigint | undefined> {
  const [found] = await readAccounts(world.client, { addresses: [account] })
  return found && toTokenAccount(found)?.amount
}

const lamportsOf = async (owner: string) =>
  (await world.client.rpc.getBalance(address(owner), { commitment: 'confirmed' }).send()).value
const spend = async ({ wallet }: Ordered, amount: bigint) => {
  await world.give(usdc, world.payer.address, 0n)
  const to = world.payer.address
  await world.run(wallet, [await transferInstruction({ from: wallet, to, token: usdc, amount })])
}

test.each([
  ['the token program', undefined, 'tokenAccountLamports'],
  ['Token-2022', TOKEN_2022_PROGRAM_ADDRESS, 'token2022AccountLamports'],
] as const)(
  'a payment of %s moves the amount into an account that the service opens',
  async (_, program, rent) => {
    const token = program ? await world.createMint({ program }) : usdc
    tokens.push(token.mint)
    const ordered = await order(token)
    const [before, wallets] = [await lamportsOf(ordered.op.locker), await lamportsOf(ordered.op.wallet)]
    const swap = await toSwap(ordered)
    expect(await chain.findObstacle(swap)).toBeUndefined()

    const { raw, txHash } = await sign(swap)
    await send(raw)

    expect(await heldAt(ordered.destination)).toBe(AMOUNT)
    expect(await lamportsOf(ordered.op.wallet)).toBe(wallets)
    const spent = before - (await lamportsOf(ordered.op.locker)) - world.rent[rent]
    expect(spent).toBeLessThan(feeLamports(UNITS, 1n) + feeLamports(2 * OPEN_UNITS, 1_000n, 1n))
    const { head } = await readBlocks(world.client)
    expect((await chain.readLocks([ordered.op], head)).get(ordered.op.hash)).toBe('locked')
    expect(await chain.isSigned(swap)).toBe(true)
    expect(await chain.readCost?.(txHash, raw)).toMatchObject({ eventIds: [ordered.op.hash] })
  },
)

test('the recorded bytes are sent again without effect', async () => {
  const ordered = await order()
  const { raw } = await sign(await toSwap(ordered))
  await send(raw)
  const before = await lamportsOf(ordered.op.locker)

  await send(raw)

  expect(await heldAt(ordered.destination)).toBe(AMOUNT)
  expect(await lamportsOf(ordered.op.locker)).toBe(before)
})

test('a crash after the account was opened, or one that a stranger opened, does not stop the payment', async () => {
  const ordered = await order()
  const swap = await toSwap(ordered)
  const { raw } = await sign(swap)
  await world.land(splitRaw(raw).creation ?? '')
  expect([await heldAt(ordered.destination), await chain.findObstacle(swap)]).toEqual([0n, undefined])

  await send(raw)

  expect(await heldAt(ordered.destination)).toBe(AMOUNT)
})

test('lamports at the address before do not stop the payment', async () => {
  const ordered = await order()
  await world.send(ordered.destination, world.rent.emptyLamports)
  const swap = await toSwap(ordered)

  expect(await chain.findObstacle(swap)).toBeUndefined()
  await send((await sign(swap)).raw)

  expect(await heldAt(ordered.destination)).toBe(AMOUNT)
})

test('a payer that has spent its tokens is an obstacle, with and without the account', async () => {
  const ordered = await order()
  const swap = await toSwap(ordered)
  const { raw } = await sign(swap)
  await spend(ordered, 1n)

  const before = await chain.findObstacle(swap)
  await world.land(splitRaw(raw).creation ?? '')

  expect([before, await chain.findObstacle(swap)]).toEqual(['INPUT_UNAVAILABLE', 'INPUT_UNAVAILABLE'])
})

test('a quote adds the fee of opening the account for a payer', async () => {
  const { lock, ways } = await chain.readLegCosts((await readBlocks(world.client)) as never)
  const { raw } = await sign(await toSwap(await order()))
  const before = await lamportsOf(world.feePayer.address)

  await world.land(splitRaw(raw).creation ?? '')

  const fee = before - (await lamportsOf(world.feePayer.address)) - world.rent.tokenAccountLamports
  const added = (ways?.payment ?? 0n) - lock
  expect([fee - added >= 0n, fee - added < 100n]).toEqual([true, true])
})

test('a payment that failed, or never landed, counts with the rent, which a refund returns', async () => {
  const ordered = await order(usdc, 60)
  const before = await lamportsOf(ordered.op.locker)
  const { raw, txHash } = await sign(await toSwap(ordered))
  await world.land(splitRaw(raw).creation ?? '')
  const unlanded = await chain.readCost?.(txHash, raw)
  expect(unlanded).toEqual({ fee: before - (await lamportsOf(ordered.op.locker)), eventIds: [] })
  await spend(ordered, 1n)

  await send(raw)

  const lost = before - (await lamportsOf(ordered.op.locker))
  expect(await chain.readCost?.(txHash, raw)).toEqual({ fee: lost, eventIds: [] })
  const { head } = await readBlocks(world.client)
  expect(await isClosable(parts, ordered.op, head as never)).toBe(true)
  await world.dev.dev_advanceClock(3_600).send()
  await world.advance(2)
  const terms = await chain.readTerms((await readBlocks(world.client)) as never)
  const close = await chain.sign({ ...planPublicRefund(ordered.op) }, { sender: ordered.op.locker, terms })
  await world.land(close.raw)
  expect(await heldAt(ordered.destination)).toBeUndefined()
  expect(before - (await lamportsOf(ordered.op.locker))).toBeLessThan(world.rent.tokenAccountLamports / 50n)
  const later = (await readBlocks(world.client)).head
  expect(await isClosable(parts, ordered.op, later as never)).toBe(false)
})

test('the books have the rent with the account, and the input with the payment', async () => {
  const ordered = await order()
  const { raw, txHash } = await sign(await toSwap(ordered))
  await send(raw)
  const { program } = parts.settings
  const books = { vaults: [], payers: new Set([ordered.op.locker]) }
  const movesOf = async (hash: string) => {
    const query = { txHash: hash, commitment: 'confirmed', program } as const
    const transaction = await readTransaction(world.client, query)
    const events = transaction ? await eventsOf(parts.settings, books, transaction) : []
    return events.map(({ kind, amount }) => [kind, amount])
  }

  const [opened, paid] = [await movesOf(creationHash(splitRaw(raw).creation ?? '')), await movesOf(txHash)]

  expect(opened).toEqual([
    ['rentPaid', world.rent.tokenAccountLamports],
    ['spent', expect.any(BigInt)],
  ])
  expect(paid).toEqual([
    ['locked', AMOUNT],
    ['spent', feeLamports(UNITS, 1n)],
  ])
})

test('payTo owns the account of the op, and of no other terms', async () => {
  const { op, offer, destination } = await order()

  const [authority] = await findAuthority(parts.settings.program as Address, termsOf(parts.settings, op))

  expect([offer.payTo, offer.operation['destination']]).toEqual([authority, destination])
  expect(await parts.addresses.inputOf({ ...op, inputAmount: AMOUNT + 1n })).not.toBe(destination)
})

test('no changed byte of a payment is accepted, nor one with too few units or an old blockhash', async () => {
  const ordered = await order()
  const wire = Buffer.from(await toTransaction(ordered), 'base64')
  const read = (bytes: Buffer) => builder.readPaid(bytes.toString('base64'))

  const changed = await Promise.all(
    // The first signature is ours to add: its place is cleared.
    [...wire.keys()]
      .filter((at) => at < 1 || at > 64)
      .map((at) => {
        const bytes = Buffer.from(wire)
        bytes[at] = (bytes[at] ?? 0) ^ 1
        return read(bytes)
      }),
  )

  expect(changed.filter((each) => each !== undefined)).toEqual([])
  expect(await builder.readPaid(await toTransaction(ordered, 9_999))).toBeUndefined()
  expect(await read(wire)).toMatchObject({ isOver: false })
  await world.advance(160)
  expect(await read(wire)).toMatchObject({ isOver: true })
})

test('a payment whose blockhash expires after it was read is over, long before any newer one would be', async () => {
  const ordered = await order()
  await world.advance(145)
  const swap = await toSwap(ordered)
  expect(await chain.findObstacle(swap)).toBeUndefined()

  await world.advance(10)

  const { height } = (await readBlocks(world.client)).head
  expect(height).toBeLessThan(swap.lastValid ?? 0n)
  expect(await chain.findObstacle(swap)).toBe('OPERATION_EXPIRED')
})

test.each([
  ['other decimals', { decimals: 7 }],
  ['another token program', { program: TOKEN_2022_PROGRAM_ADDRESS }],
])('a payment that says %s is none, and would open no account', async (_, written) => {
  const ordered = await order()
  const signature = await toTransaction(ordered, UNITS, written)

  expect(await builder.readPaid(signature)).toBeUndefined()
  const swap = stub<Swap>({ op: ordered.op, signature, lastValid: 1_000_000n })
  expect(await chain.findObstacle(swap)).toBe('INPUT_UNAVAILABLE')
})
