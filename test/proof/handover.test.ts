import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Network, type ServiceConfig, startNetwork, toServiceSecrets } from '@geoswap/devnet'
import { geoEscrowAbi } from '@geoswap/protocol'
import { type EncodeFunctionDataParameters, encodeFunctionData, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composeApi } from '../../packages/service/src/compose/api.ts'
import { composeAttester } from '../../packages/service/src/compose/attester.ts'
import { composeWorker } from '../../packages/service/src/compose/worker.ts'
import { loadConfig } from '../../packages/service/src/config/load.ts'
import { listen } from '../../packages/service/src/http/server.ts'
import { createLogger } from '../../packages/service/src/observe/logger.ts'
import { createPool } from '../../packages/service/src/store/db.ts'
import { migrate } from '../../packages/service/src/store/migrate.ts'
import { type ApiClient, createApiClient } from '../client.ts'
import { createOperator, type Operator } from '../operator.ts'
import { startRpcProxy } from '../rpc-proxy.ts'
import {
  createWorld,
  type LocalNetwork,
  outcomeOf,
  submitSwap,
  toRequest,
  until,
  type World,
} from '../world.ts'

const USDC = 1_000_000n
const MIGRATIONS = fileURLToPath(new URL('../../packages/service/src/store/migrations', import.meta.url))

/** Schema changes of a next version while this version is running. */
const NEXT_VERSION = `
alter table ops add column tier text;
alter table swaps add column tier text not null default 'none';
create table tiers (swap_id text primary key references swaps, tier text not null);
alter table tx_attempts drop constraint tx_attempts_role_check;
alter table tx_attempts add constraint tx_attempts_role_check
  check (role in ('lock', 'deliver', 'claim', 'refund', 'topup', 'noop', 'sweep'));
create index swaps_by_tier on swaps (tier);
create function note_tier() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into tiers values (new.id, new.tier);
  return null;
end $$;
create trigger note_tier after insert on swaps for each row execute function note_tier();`

let network: Network
let world: World
let operator: Operator
const running: { close(): Promise<void> }[] = []
let attester: { close(): Promise<void> } | undefined
const logger = createLogger({ level: 'silent' })

beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  const serviceConfig = { venues: [{ kind: 'inventory' }] }
  network = await startNetwork({
    service: false,
    blockMs: 500,
    slotMs: 200,
    env: { PATH, HOME },
    serviceConfig,
  })
  world = createWorld(network.local as LocalNetwork)
  operator = createOperator(network.databaseUrl)
})

afterAll(async () => {
  await Promise.all([attester, ...running].map((process) => process?.close()))
  await network?.stop()
})

type Keys = Pick<ServiceConfig, 'relayers' | 'authorizationRelayers' | 'deliverers'>

async function configOf(role: 'api' | 'worker' | 'attester', part: object = {}, keys: object = {}) {
  const shared = JSON.parse(await readFile(join(network.home, 'service.json'), 'utf8'))
  const file = join(await mkdtemp(join(tmpdir(), 'geoswap-upgrade-')), 'service.json')
  await writeFile(file, JSON.stringify({ ...shared, ...part }))
  const secrets = { ...toServiceSecrets(network.keys)[role], ...keys }
  const own = { DATABASE_URL: network.databaseUrls[role], GEOSWAP_CONFIG: file, PORT: '0' }
  return loadConfig({ ...own, ...secrets }, role)
}

async function startApi(apiKey: string, part: object = {}): Promise<ApiClient> {
  const service = await composeApi(await configOf('api', part), logger)
  running.push(service)
  const apiUrl = await listen(service.app, { port: 0, host: '127.0.0.1' })
  return createApiClient({ apiUrl, apiKey })
}

function half(index: number): Keys {
  const part = (keys: Network['keys']['relayers']) =>
    keys.filter((_, at) => at % 2 === index).map(({ address }) => address)
  const { relayers, authorizationRelayers, deliverers } = network.keys
  return {
    relayers: part(relayers),
    authorizationRelayers: part(authorizationRelayers),
    deliverers: part(deliverers),
  }
}

/** A worker with some of the keys, so that its transactions can be identified. */
async function startWorker(part: object): Promise<void> {
  const worker = await composeWorker(await configOf('worker', part), logger)
  running.push(worker)
  await worker.start()
}

/** Replaces the running one, if there is one. */
async function startAttester(part: object = {}, keys: object = {}): Promise<void> {
  const replaced = attester
  attester = undefined
  await replaced?.close()
  const started = await composeAttester(await configOf('attester', part, keys), logger)
  attester = started
  await started.start()
}

async function migrateTo(folder?: URL): Promise<void> {
  const pool = createPool(network.databaseUrl)
  await migrate(pool, folder)
  await pool.end()
}

async function folderOfNextVersion(): Promise<URL> {
  const dir = await mkdtemp(join(tmpdir(), 'geoswap-migrations-'))
  await cp(MIGRATIONS, dir, { recursive: true })
  await writeFile(join(dir, '9001_next.sql'), NEXT_VERSION)
  return pathToFileURL(`${dir}/`)
}

const newAddress = () => privateKeyToAddress(generatePrivateKey())

function orderTo(to: World['alpha']) {
  const buy = to === world.alpha ? 'WETH' : 'USDC'
  return { from: world.alpha, sell: 'USDC', to, buy, amount: 10n * USDC }
}

async function swapBy(api: ApiClient, to = world.beta): Promise<string> {
  const wallet = await world.walletWith(world.alpha, 'USDC', 10n * USDC)
  return (await submitSwap({ api }, wallet, orderTo(to))).swapId
}

const untilClosed = (swapId: string) =>
  until(async () => {
    const [swap] = await operator.query<{ state: string }>('select state from swaps where id = $1', [swapId])
    if (swap?.state === 'failed') throw new Error(`${swapId} has failed`)
    return swap?.state === 'closed'
  })

/** The lockers of these swaps: an op is bound to its locker. */
async function lockersOf(swapIds: readonly string[]): Promise<Set<string>> {
  const rows = await operator.query<{ sender: string }>(
    `select distinct a.sender from tx_attempts a join attempt_swaps l on l.attempt_id = a.id
      where l.swap_id = any($1) and a.role = 'lock'`,
    [swapIds],
  )
  return new Set(rows.map(({ sender }) => sender))
}

test('no process starts before the migrations of its version have run', async () => {
  const lacking = /This database has no tables yet/

  await expect(configOf('api').then((config) => composeApi(config, logger))).rejects.toThrow(lacking)
  await expect(startWorker(half(0))).rejects.toThrow(lacking)
  await expect(startAttester()).rejects.toThrow(lacking)
})

test('processes from before a migration and from after it finish swaps side by side', async () => {
  const [before, after] = [half(0), half(1)]
  await migrateTo()
  const apiKey = await operator.createKey()
  const oldApi = await startApi(apiKey)
  await startAttester()
  await startWorker(before)
  const early = await Promise.all(Array.from({ length: 8 }, () => swapBy(oldApi)))

  await migrateTo(await folderOfNextVersion())
  const newApi = await startApi(apiKey)
  await startWorker(after)
  const late = await Promise.all([oldApi, newApi].flatMap((api) => [1, 2, 3, 4].map(() => swapBy(api))))

  const all = [...early, ...late]
  const ends = await Promise.all(all.map((swapId) => outcomeOf({ api: oldApi }, swapId)))
  expect(ends.map(({ status }) => status)).toEqual(all.map(() => 'settled'))
  await until(async () => {
    const open = await operator.query("select id from swaps where state <> 'closed'")
    return open.length === 0
  })
  const lockers = await lockersOf(late)
  const isUsed = ({ relayers, authorizationRelayers }: Keys) =>
    [...relayers, ...authorizationRelayers].some((key) => lockers.has(key))
  expect([before, after].map(isUsed)).toEqual([true, true])
  const [{ count } = { count: '' }] = await operator.query<{ count: string }>('select count(*) from tiers')
  expect(count).toBe(String(late.length))
})

/**
 * The configuration with another node of a chain, and with the decimals that the node then cannot provide.
 */
async function withNode(name: string, url: string) {
  const { chains }: ServiceConfig = JSON.parse(await readFile(join(network.home, 'service.json'), 'utf8'))
  const decimalsOf = (address: string) =>
    network.local.chains.flatMap(({ tokens }) => tokens).find((token) => token.address === address)?.decimals
  const changed = chains.map((chain) => {
    if (chain.name !== name) return chain
    const tokens = chain.tokens.map((token) => ({ ...token, decimals: decimalsOf(token.address) }))
    return { ...chain, tokens, rpcUrls: [url], attesterRpcUrls: [url] }
  })
  return { chains: changed }
}

test('with one chain down the service starts for the others, and serves it once it answers', async () => {
  await Promise.all(running.splice(0).map((process) => process.close()))
  const node = network.local.chains.find(({ name }) => name === 'beta')?.rpcUrl ?? ''
  const proxy = await startRpcProxy(() => node)
  proxy.onCall(() => 'dropRequest')
  const part = await withNode('beta', proxy.url)
  const api = await startApi(await operator.createKey(), part)
  await startAttester(part)
  await startWorker(part)

  await untilClosed(await swapBy(api, world.alpha))
  const request = toRequest({ address: newAddress() }, orderTo(world.beta))
  const meanwhile = await until(async () => {
    const reply = await api.quote(request)
    // The view of the last worker counts until its head is too old.
    return reply.status === 200 ? undefined : reply
  })
  const lanes = await operator.query('select 1 from lanes where name ~ $1 and expires_at > now()', [
    `^\\w+:${world.beta.chainId}`,
  ])
  proxy.onCall(undefined)
  await untilClosed(await swapBy(api))
  await Promise.all([attester, ...running.splice(0)].map((process) => process?.close()))
  attester = undefined
  await proxy.stop()

  expect([meanwhile.status, meanwhile.body.code, lanes]).toEqual([503, 'CHAIN_UNAVAILABLE', []])
})

const DAY = 24 * 3_600

type Change =
  | { functionName: 'proposeAttesters'; args: [Hex[], bigint] }
  | { functionName: 'acceptAttesters' }

/** As the treasury, on both chains. */
async function callEscrows(change: Change) {
  const data = encodeFunctionData({ abi: geoEscrowAbi, ...change } as EncodeFunctionDataParameters)
  const { address } = network.keys.treasury
  for (const { client, as, contracts } of world.chains) {
    const sent = await client.getTransactionCount({ address })
    await as(address, { to: contracts.escrow, data })
    await until(async () => (await client.getTransactionCount({ address })) > sent)
  }
}

async function pass(seconds: number) {
  for (const chain of world.chains) {
    await chain.advance(seconds)
    await chain.mine()
  }
}

/** The attesters who signed a swap's claim. */
async function signersOf(swapId: string): Promise<string[]> {
  const rows = await operator.query<{ signer: string }>(
    `select g.signer from attestations a join attestation_signatures g on g.attestation_id = a.id
      where a.swap_ids @> array[$1] and g.signature is not null order by 1`,
    [swapId],
  )
  return rows.map(({ signer }) => signer)
}

test('the attesters are replaced on the chains while they run, and inputs are claimed before and after', async () => {
  const key = generatePrivateKey()
  const next = privateKeyToAddress(key)
  const [{ address: old, privateKey } = { address: '', privateKey: '' }] = network.keys.attesters
  const sets = {
    attesters: { members: [old], threshold: 1 },
    nextAttesters: { members: [next], threshold: 1 },
  }
  const both = { GEOSWAP_ATTESTER_KEY: `${privateKey},${key}` }
  const api = await startApi(await operator.createKey(), sets)
  await startAttester(sets, both)
  await startWorker(sets)
  const before = await swapBy(api)
  await untilClosed(before)

  await callEscrows({ functionName: 'proposeAttesters', args: [[next], 1n] })
  await pass(DAY)
  await callEscrows({ functionName: 'acceptAttesters' })
  const between = await swapBy(api)
  await untilClosed(between)
  await pass(7 * DAY)
  await until(async () => {
    const { chains } = (await api.chains()).body
    return chains.every(({ attesterChangeAt }) => attesterChangeAt === undefined)
  })
  const after = await swapBy(api)
  await untilClosed(after)
  await startAttester({ attesters: sets.nextAttesters }, { GEOSWAP_ATTESTER_KEY: key })

  expect(await Promise.all([before, between, after].map(signersOf))).toEqual([[old], [old], [next]])
  await expect(startAttester()).rejects.toThrow(`the escrow's attesters are 1 of ${next}, not 1 of ${old}`)
})
