import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Network, startNetwork } from '@geoswap/devnet'
import { MARKER_BYTES } from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, outcomeOf, submitSwap, until, type World } from '../world.ts'

const USDC = 1_000_000n
const SWAPS = 3
// More than the deadline of a delivery and the two days after it in which its marker stays.
const SECONDS = 3 * 24 * 3_600
// A worker looks once a minute.
const SWEEP_MS = 100_000

let network: Network
let world: World
let solana: SolanaWorld
let db: pg.Client
beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  network = await startNetwork({ blockMs: 500, slotMs: 200, env: { PATH, HOME } })
  world = createWorld(network.local as LocalNetwork)
  solana = await createSolanaWorld(network.local as LocalNetwork)
  db = new pg.Client(network.databaseUrl)
  await db.connect()
})
afterAll(async () => {
  await db?.end()
  await network?.stop()
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

test('a running worker closes the markers of old deliveries, and all of their rent comes back', async () => {
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

  await solana.dev.dev_advanceClock(SECONDS).send()
  await until(async () => (await readMarkers(program)).length === 0, SWEEP_MS)

  const rent = markers.reduce((sum, { lamports }) => sum + lamports, 0n)
  const fee = await lastFee(markers[0]?.address as Address)
  expect(markers.length).toBe(SWAPS)
  expect(rent).toBeGreaterThan(0n)
  expect(fee).toBeLessThan(10_000n)
  expect(await coinsOf(feePayers.delivery)).toBe(before + rent - fee)
}, 180_000)
