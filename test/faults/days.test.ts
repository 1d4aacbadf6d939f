import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Network, startNetwork } from '@geoswap/devnet'
import { geoEscrowAbi } from '@geoswap/protocol'
import { MARKER_BYTES } from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import pg from 'pg'
import { type Abi, encodeFunctionData, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import {
  authorize,
  createWorld,
  type LocalNetwork,
  outcomeOf,
  quoteOnceSettled,
  stageOf,
  submitSwap,
  toRequest,
  until,
  type World,
} from '../world.ts'

const USDC = 1_000_000n
// Bytecode of a contract that refuses every payment: PUSH1 0 PUSH1 0 REVERT.
const REFUSES = '0x60006000fd'
const DAY = 24 * 3_600
const SWAPS = 3
// More than the deadline of a delivery and the two days after it in which its marker stays.
const MARKER_SECONDS = 3 * DAY
// A worker looks once a minute.
const SWEEP_MS = 100_000

let network: Network
let world: World
let solana: SolanaWorld
let db: pg.Client
let delivered: Awaited<ReturnType<typeof ageDeliveries>>
beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  network = await startNetwork({ blockMs: 500, slotMs: 200, env: { PATH, HOME } })
  world = createWorld(network.local as LocalNetwork)
  solana = await createSolanaWorld(network.local as LocalNetwork)
  db = new pg.Client(network.databaseUrl)
  await db.connect()
  delivered = await ageDeliveries()
})
afterAll(async () => {
  await db?.end()
  await network?.stop()
})
afterEach(() => world.alpha.resume())

/** A call of the treasury to the escrow of alpha. */
async function call(functionName: string, ...args: unknown[]): Promise<void> {
  const { alpha } = world
  const abi: Abi = geoEscrowAbi
  const { address } = network.keys.treasury
  const sent = await alpha.client.getTransactionCount({ address })
  await alpha.as(address, {
    to: alpha.contracts.escrow,
    data: encodeFunctionData({ abi, functionName, args }),
  })
  await until(async () => (await alpha.client.getTransactionCount({ address })) > sent)
}

/** A swap whose recipient refuses the output once the input is locked: its refund is due. */
async function dueRefund() {
  const { alpha, beta } = world
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const recipient = privateKeyToAddress(generatePrivateKey())
  await alpha.halt()
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'ETH', amount: 10n * USDC, recipient }
  const { swapId, build } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()
  await beta.client.setCode({ address: recipient, bytecode: REFUSES })
  await alpha.resume()
  const { refundDeadline } = build.operation.message as { refundDeadline: string }
  return { wallet, swapId, refundDeadline: Number(refundDeadline) }
}

const untilBlocked = (swapId: string) =>
  until(async () => (await world.api.status(swapId, 0)).body.substatus === 'refundBlocked')

test('while attested refunds are stopped an input waits, and goes back after its refund deadline', async () => {
  const { alpha } = world
  await call('setAttestedRefundsStopped', true)
  const { wallet, swapId, refundDeadline } = await dueRefund()
  await untilBlocked(swapId)
  const { timestamp } = await alpha.client.getBlock()
  await alpha.advance(refundDeadline - Number(timestamp) + 1)

  const outcome = await outcomeOf(world, swapId)
  await call('setAttestedRefundsStopped', false)

  expect(outcome).toMatchObject({ status: 'refunded', refund: { reason: 'RECIPIENT_INVALID' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(10n * USDC)
})

test('a refund above what the cap of the hour has left waits until the treasury raises it', async () => {
  const { alpha } = world
  const token = alpha.token('USDC')
  const before = await alpha.client.readContract({
    ...{ address: alpha.contracts.escrow, abi: geoEscrowAbi },
    ...{ functionName: 'refundCaps', args: [token as Hex] },
  })
  await call('setRefundCap', token, 9n * USDC)
  const { wallet, swapId } = await dueRefund()
  await untilBlocked(swapId)

  await call('setRefundCap', token, before[0])

  expect(await outcomeOf(world, swapId)).toMatchObject({ status: 'refunded' })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(10n * USDC)
})

async function build() {
  const wallet = await world.walletWith(world.alpha, 'USDC', 10n * USDC)
  const order = { from: world.alpha, sell: 'USDC', to: world.beta, buy: 'WETH', amount: 10n * USDC }
  const { geoQuoteToken } = await quoteOnceSettled(world.api, toRequest(wallet, order))
  const authorization = await authorize(world.api, wallet, world.alpha.chainId)
  return world.api.build({ geoQuoteToken, ...(authorization && { authorization }) })
}

const announcedAt = async () => (await world.api.chains()).body.chains[0]?.attesterChangeAt

/** The treasury gives the escrow other attesters, a week ahead. */
async function follow(member: string): Promise<void> {
  await call('proposeAttesters', [member], 1n)
  await world.alpha.advance(DAY)
  await call('acceptAttesters')
}

test('503 CHAIN_UNAVAILABLE for a build that foreign attesters would decide, and none before and after', async () => {
  const [own] = network.keys.attesters
  await follow(privateKeyToAddress(generatePrivateKey()))
  await until(announcedAt)
  const before = await build()
  await world.alpha.advance(7 * DAY - 60)
  const refused = await until(async () => {
    const reply = await build()
    return reply.status === 200 ? undefined : reply
  })
  await follow(own?.address ?? '')
  await world.alpha.advance(7 * DAY)
  const after = await until(async () => {
    const reply = await build()
    return reply.status === 200 ? reply : undefined
  })

  expect([before.status, refused.status, after.status]).toEqual([200, 503, 200])
  expect(refused.body).toMatchObject({
    code: 'CHAIN_UNAVAILABLE',
    message: expect.stringContaining('attesters that are not of this service'),
  })
  await until(async () => (await announcedAt()) === undefined)
})

type Solana = { name: string; program: Address; feePayers: { delivery: Address } }

function configured(): Solana {
  const { chains } = JSON.parse(readFileSync(join(network.home, 'service.json'), 'utf8'))
  return chains.find(({ name }: Solana) => name === 'solana')
}

async function readMarkers(program: Address) {
  const filters = [{ dataSize: BigInt(MARKER_BYTES) }]
  const found = await solana.rpc.getProgramAccounts(program, { encoding: 'base64', filters }).send()
  return found.map(({ pubkey, account }) => ({ address: pubkey, lamports: BigInt(account.lamports) }))
}

const coinsOf = async (address: Address) => (await solana.rpc.getBalance(address).send()).value

/** The fee of the newest transaction that names this account. */
async function lastFee(address: Address): Promise<bigint> {
  const [last] = await solana.rpc.getSignaturesForAddress(address, { limit: 1 }).send()
  if (!last) throw new Error(`No transaction names ${address}`)
  const options = { encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const found = await solana.rpc.getTransaction(last.signature, options).send()
  return BigInt(found?.meta?.fee ?? 0n)
}

async function isClosed(swapId: string): Promise<boolean> {
  const { rows } = await db.query('select state from swaps where id = $1', [swapId])
  return rows[0]?.state === 'closed'
}

/** Deliveries whose markers are old: the worker closes them during the other tests. */
async function ageDeliveries() {
  const { program, feePayers } = configured()
  const to = await solana.wallet({ USDC })
  const swaps = await Promise.all(
    Array.from({ length: SWAPS }, async () => {
      const wallet = await world.walletWith(world.alpha, 'USDC', 10n * USDC)
      const route = { from: world.alpha, sell: 'USDC', to: solana, buy: 'USDC', recipient: to.address }
      return submitSwap(world, wallet, { ...route, amount: 10n * USDC })
    }),
  )
  for (const { swapId } of swaps) {
    expect((await outcomeOf(world, swapId)).status).toBe('settled')
    await until(() => isClosed(swapId))
  }
  const markers = await readMarkers(program)
  const before = await coinsOf(feePayers.delivery)
  await solana.dev.dev_advanceClock(MARKER_SECONDS).send()
  return { program, feePayers, markers, before }
}

test('a running worker closes the markers of old deliveries, and all of their rent comes back', async () => {
  const { program, feePayers, markers, before } = delivered

  await until(async () => (await readMarkers(program)).length === 0, SWEEP_MS)

  const rent = markers.reduce((sum, { lamports }) => sum + lamports, 0n)
  const fee = await lastFee(markers[0]?.address as Address)
  expect(markers.length).toBe(SWAPS)
  expect(rent).toBeGreaterThan(0n)
  expect(fee).toBeLessThan(10_000n)
  expect(await coinsOf(feePayers.delivery)).toBe(before + rent - fee)
})
