import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Network, startNetwork, toServiceSecrets } from '@geoswap/devnet'
import type { BuildGeoOpReply } from '@geoswap/wire'
import { Client } from 'pg'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composeApi } from '../../packages/service/src/compose/api.ts'
import { composeAttester } from '../../packages/service/src/compose/attester.ts'
import { composeWorker } from '../../packages/service/src/compose/worker.ts'
import { loadConfig } from '../../packages/service/src/config/load.ts'
import { listen } from '../../packages/service/src/http/server.ts'
import { createLogger } from '../../packages/service/src/observe/logger.ts'
import { rebuildDatabase } from '../../packages/service/src/operate/rebuild.ts'
import { createPool } from '../../packages/service/src/store/db.ts'
import { migrate } from '../../packages/service/src/store/migrate.ts'
import { createApiClient } from '../client.ts'
import { createOperator } from '../operator.ts'
import { type RpcProxy, startRpcProxy } from '../rpc-proxy.ts'
import { submitSolanaSwap } from '../solana-orders.ts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { submitBy } from '../ways.ts'
import {
  createWorld,
  type LocalNetwork,
  outcomeOf,
  stageOf,
  submitSwap,
  until,
  type World,
} from '../world.ts'

const USDC = 1_000_000n
const ROLES = ['worker', 'attester'] as const
type Role = (typeof ROLES)[number]

/** Shortened together, with time to recover lost data before the deadlines, on a busy machine too. */
const DEADLINES = {
  ...{ opLifeSeconds: 30, depositSeconds: 40, lockInclusionSeconds: 10, fillSeconds: 90, cutOffSeconds: 5 },
  ...{ attemptLifeSeconds: 10, detectionSeconds: 5, claimInclusionSeconds: 10 },
}
const AFTER_EVERY_DEADLINE = 400

let network: Network
let proxy: RpcProxy
let world: World
let solana: SolanaWorld
let api: ReturnType<typeof createApiClient>
const running = new Map<string, { close(): Promise<void> }>()
const logger = createLogger({ level: 'silent' })

beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  let node = ''
  proxy = await startRpcProxy(() => node)
  network = await startNetwork({
    ...{ service: false, blockMs: 500, slotMs: 100, env: { PATH, HOME } },
    serviceRpcUrl({ name, rpcUrl }) {
      if (name !== 'beta') return rpcUrl
      node = rpcUrl
      return proxy.url
    },
    serviceConfig: { deadlines: DEADLINES, venues: [{ kind: 'inventory' }] },
  })
  await migrated()
  const local = network.local as LocalNetwork
  solana = await createSolanaWorld(local)
  world = createWorld(local)
  await startAll()
})

afterAll(async () => {
  await stopAll()
  await network?.stop()
  await proxy?.stop()
})

async function migrated(): Promise<void> {
  const pool = createPool(network.databaseUrl)
  await migrate(pool)
  await pool.end()
}

function envOf(role: Role | 'api') {
  const config = join(network.home, 'service.json')
  const secrets = toServiceSecrets(network.keys)[role]
  return { DATABASE_URL: network.databaseUrls[role], GEOSWAP_CONFIG: config, PORT: '0', ...secrets }
}

async function startRole(role: Role): Promise<void> {
  const compose = role === 'worker' ? composeWorker : composeAttester
  const process = await compose(loadConfig(envOf(role), role), logger)
  running.set(role, process)
  await process.start()
}

async function startApi(): Promise<void> {
  const service = await composeApi(loadConfig(envOf('api'), 'api'), logger)
  running.set('api', service)
  const apiUrl = await listen(service.app, { port: 0, host: '127.0.0.1' })
  const apiKey = await createOperator(network.databaseUrl).createKey()
  api = createApiClient({ apiUrl, apiKey })
}

async function startAll(): Promise<void> {
  await startApi()
  await Promise.all(ROLES.map(startRole))
}

async function stopAll(): Promise<void> {
  await Promise.all([...running].map(([role]) => stopRole(role)))
}

async function stopRole(role: string): Promise<void> {
  await running.get(role)?.close()
  running.delete(role)
}

/** Copies the database by the server itself, while nobody is connected. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const url = new URL(network.databaseUrl)
  url.pathname = '/postgres'
  const client = new Client(url.href)
  await client.connect()
  await client.query(`drop database if exists ${to} with (force)`)
  await client.query(`create database ${to} template ${from}`)
  await client.end()
}

async function query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return createOperator(network.databaseUrl).query<Row>(sql, values)
}

/** Runs the command, and makes the blocks that it waits for. */
async function rebuild() {
  const out: string[] = []
  const hint = (text: string) => {
    const chainId = Number(/^chain (\d+): waiting/.exec(text)?.[1])
    if (chainId === solana.chainId) void solana.dev.dev_advanceSlots(250).send()
    for (const chain of [world.alpha, world.beta])
      if (chain.chainId === chainId) void chain.advance(DEADLINES.depositSeconds + 1)
  }
  const env = { DATABASE_URL: network.databaseUrl, GEOSWAP_CONFIG: join(network.home, 'service.json') }
  await rebuildDatabase(['--json'], env, { out: (text) => out.push(text), hint })
  return JSON.parse(out.join('\n'))
}

const newRecipient = () => privateKeyToAddress(generatePrivateKey())

/** Ten USDC of a new wallet on alpha. */
async function fromAlpha(to: 'beta' | 'solana') {
  const wallet = await world.walletWith(world.alpha, 'USDC', 10n * USDC)
  const recipient = to === 'beta' ? newRecipient() : (await solana.wallet({ USDC: 1n })).address
  const order = { from: world.alpha, sell: 'USDC', buy: 'USDC', amount: 10n * USDC, recipient }
  const target = to === 'beta' ? world.beta : solana
  const swap = await submitSwap({ api }, wallet, { ...order, to: target })
  const paid =
    to === 'beta'
      ? () => world.beta.balanceOf(recipient as `0x${string}`, 'USDC')
      : async () => (await solana.balanceOf(recipient, solana.token('USDC'))) - 1n
  return { ...swap, paid, left: () => world.alpha.balanceOf(wallet.address, 'USDC') }
}

/** The same from a wallet that holds nothing: by a deposit of somebody else, if an amount is given. */
async function byDeposit(amount?: bigint) {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const order = { from: world.alpha, sell: 'USDC', to: world.beta, buy: 'USDC', amount: 10n * USDC }
  const { quote, ...swap } = await submitBy({ api }, wallet, { order, method: 'deposit' })
  const output = quote.originMethods?.find(({ method }) => method === 'deposit')?.output ?? ''
  const deposit = (units: bigint) =>
    world.fund(world.alpha, swap.build.depositAddress as Address, 'USDC', units)
  if (amount !== undefined) await deposit(amount)
  const paid = () => world.beta.balanceOf(wallet.address, 'USDC')
  return {
    ...swap,
    quote: { output },
    paid,
    deposit,
    left: () => world.alpha.balanceOf(wallet.address, 'USDC'),
  }
}

async function fromSolana(to: World['alpha']) {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const recipient = newRecipient()
  const order = { sell: 'USDC', to, buy: 'USDC', amount: 10n * USDC, recipient }
  const swap = await submitSolanaSwap({ api, solana }, wallet, order)
  const left = () => solana.balanceOf(wallet.address, solana.token('USDC'))
  return { ...swap, paid: () => to.balanceOf(recipient, 'USDC'), left }
}

type Made = Pick<
  Awaited<ReturnType<typeof fromAlpha>> | Awaited<ReturnType<typeof fromSolana>>,
  'swapId' | 'build' | 'paid' | 'left'
> & { quote: { output: string } }

const expectDelivered = async ({ quote, paid, left }: Made) =>
  expect([await paid(), await left()]).toEqual([BigInt(quote.output), 0n])
const expectReturned = async ({ paid, left }: Made) =>
  expect([await paid(), await left()]).toEqual([0n, 10n * USDC])

const opHashOf = ({ build }: Made) =>
  'geoOpHash' in build ? build.geoOpHash : `0x${(build.operation as { opId: string }).opId}`

/** Waits until the books show that the input of each of these has left, whatever state the database has. */
async function untilOver(made: readonly Made[]): Promise<void> {
  const hashes = made.map(opHashOf)
  await until(async () => {
    const rows = await query<{ state: string }>(
      'select s.state from swaps s join ops o on o.id = s.op_id where o.hash = any($1)',
      [hashes],
    )
    return (
      rows.length === hashes.length && rows.every(({ state }) => /^(closed|refunded|failed)$/.test(state))
    )
  }, 60_000)
}

/** Nothing was paid twice and nothing is missing: the books match every chain and explain all of it. */
async function expectSoundBooks(): Promise<void> {
  const twice = await query(
    `select op_hash from ledger_movements where kind in ('claimed', 'refunded') and op_hash is not null
      group by op_hash having count(*) > 1`,
  )
  const both = await query(
    `select op_hash from ledger_movements where kind in ('delivered', 'refunded') group by op_hash
     having count(distinct kind) > 1`,
  )
  expect([twice, both]).toEqual([[], []])
  expect(await query('select note from quote_stops')).toEqual([])
}

async function readEpoch(): Promise<number> {
  const [row] = await query<{ epoch: number }>('select epoch from service_epoch')
  return row?.epoch ?? 0
}

const deliveringOf = ({ swapId }: Made) => stageOf({ api }, swapId, 'delivering')

/**
 * Swaps in every state in which a loss can occur: delivered and not claimed; a signed delivery in flight; and
 * a signed delivery that never lands, because its bytes are lost.
 */
async function leaveBehind() {
  await stopRole('attester')
  const routes = [fromAlpha('beta'), fromAlpha('solana'), fromSolana(world.beta), byDeposit(10n * USDC)]
  const delivered: Made[] = await Promise.all(routes)
  await Promise.all(delivered.map(({ swapId }) => until(() => isDeliveredForGood(swapId))))
  holdDeliveries()
  const late = await fromAlpha('beta')
  await deliveringOf(late)
  const never = await Promise.all([fromAlpha('beta'), fromSolana(world.beta)])
  await Promise.all(never.map(deliveringOf))
  await stopAll()
  return { delivered, late, never, onItsWay: await signedFor(late.swapId) }
}

/** No transaction to beta arrives until they are released. */
function holdDeliveries(): void {
  proxy.onCall(({ method }) => (method === 'eth_sendRawTransaction' ? 'dropRequest' : 'forward'))
}
const letDeliveriesGo = () => proxy.onCall(undefined)

async function isDeliveredForGood(swapId: string): Promise<boolean> {
  const rows = await query('select 1 from swaps where id = $1 and delivery_final', [swapId])
  return rows.length === 1
}

async function signedFor(swapId: string): Promise<Hex> {
  const [attempt] = await query<{ raw: Hex }>(
    `select a.raw from tx_attempts a join attempt_swaps l on l.attempt_id = a.id
      where l.swap_id = $1 and l.role = 'deliver' order by a.id desc limit 1`,
    [swapId],
  )
  if (!attempt) throw new Error(`Nothing was signed for ${swapId}`)
  return attempt.raw
}

/** Continues with a rebuilt database until every earlier swap is over. */
async function finish(left: Awaited<ReturnType<typeof leaveBehind>>, more: Made[] = []) {
  const { delivered, late, never, onItsWay } = left
  letDeliveriesGo()
  await startAll()
  await world.beta.client.sendRawTransaction({ serializedTransaction: onItsWay })
  await untilOver([...delivered, late, ...more])
  for (const chain of [world.alpha, world.beta]) await chain.advance(AFTER_EVERY_DEADLINE)
  await untilOver(never)
  for (const swap of [...delivered, late, ...more]) await expectDelivered(swap)
  for (const swap of never) await expectReturned(swap)
  await expectSoundBooks()
}

test('a database from an old backup is rebuilt from the chains, and every swap ends once', async () => {
  const closed = await fromAlpha('beta')
  await untilOver([closed])
  holdDeliveries()
  const underway = await fromAlpha('beta')
  await deliveringOf(underway)
  await stopAll()
  const backup = `backup_${randomBytes(4).toString('hex')}`
  await copyDatabase('geoswap', backup)
  letDeliveriesGo()
  await startAll()
  const after = await fromAlpha('beta')
  await untilOver([underway, after])
  const left = await leaveBehind()
  const epoch = await readEpoch()

  await copyDatabase(backup, 'geoswap')
  await expect(startApi()).rejects.toThrow(/service -- rebuild/)
  await expect(startRole('worker')).rejects.toThrow(/service -- rebuild/)
  await expect(startRole('attester')).rejects.toThrow(/service -- rebuild/)
  const summary = await rebuild()
  await finish(left, [closed, underway, after])

  expect(summary).toMatchObject({
    epoch: epoch + 1,
    recovered: 8,
    orphans: 3,
    moved: 1,
    unclaimable: [],
    unreadable: [],
  })
}, 300_000)

test('deposits that waited, were swapped or went back since the backup are as the chains show them', async () => {
  const [never, swapped, small, late] = await Promise.all(Array.from({ length: 4 }, () => byDeposit()))
  if (!never || !swapped || !small || !late) throw new Error('Four were opened')
  await stopAll()
  const backup = `backup_${randomBytes(4).toString('hex')}`
  await copyDatabase('geoswap', backup)
  await startAll()
  await Promise.all([swapped.deposit(10n * USDC), small.deposit(4n * USDC)])
  await untilOver([swapped])
  await world.alpha.advance(AFTER_EVERY_DEADLINE)
  await until(async () => (await small.left()) === 4n * USDC)
  await stopAll()
  await late.deposit(10n * USDC)

  await copyDatabase(backup, 'geoswap')
  await rebuild()
  await startAll()
  await untilOver([never, swapped, small, late])
  await until(async () => (await late.left()) === 10n * USDC)

  const readDeposit = async ({ swapId }: Made) => {
    const [row] = await query<{ state: string; failure: string; returned: { amount: string }[] }>(
      `select state, failure_code as failure, deposit -> 'returned' as returned from swaps where id = $1`,
      [swapId],
    )
    return { ...row, returned: row?.returned?.map(({ amount }) => amount) }
  }
  const returnedOf = async (made: Made) => (await readDeposit(made)).returned
  await expectDelivered(swapped)
  await until(async () => (await returnedOf(small)) !== undefined && (await returnedOf(late)) !== undefined)
  expect(await Promise.all([never, swapped, small, late].map(readDeposit))).toEqual([
    { state: 'failed', failure: 'DEPOSIT_MISSING', returned: undefined },
    { state: 'closed', failure: null, returned: undefined },
    { state: 'failed', failure: 'DEPOSIT_MISSING', returned: [`${4n * USDC}`] },
    // Seen before the end or after it.
    {
      state: 'failed',
      failure: expect.stringMatching(/^(DEPOSIT_MISSING|OPERATION_EXPIRED)$/),
      returned: [`${10n * USDC}`],
    },
  ])
  await expectSoundBooks()
}, 300_000)

test('an empty database is rebuilt from the chains alone, and every swap ends once', async () => {
  const left = await leaveBehind()
  const epoch = await readEpoch()

  await copyDatabase('template1', 'geoswap')
  await migrated()
  await expect(startRole('worker')).rejects.toThrow(/service -- rebuild/)
  const summary = await rebuild()
  await finish(left)
  const next = await fromAlpha('beta')

  const methods = await query<{ method: string; address: string }>(
    'select method, deposit_address as address from ops where hash = any($1)',
    [left.delivered.map(opHashOf)],
  )
  const deposited = left.delivered.at(-1)?.build as BuildGeoOpReply
  expect(methods).toContainEqual({ method: 'deposit', address: deposited.depositAddress })
  expect(summary).toMatchObject({
    epoch: epoch + 1,
    recovered: 7,
    orphans: 3,
    unclaimable: [],
    unreadable: [],
  })
  expect((await outcomeOf({ api }, next.swapId)).status).toBe('settled')
}, 300_000)
