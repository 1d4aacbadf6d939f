import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createKeys,
  createLogins,
  deployContracts,
  EVM_CHAINS,
  startChain,
  toServiceSecrets,
} from '@geoswap/devnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { loadConfig } from '../config/load.ts'
import { createApiKey } from '../http/api-key.ts'
import { createLogger } from '../observe/logger.ts'
import { insertApiKey } from '../store/api-keys.ts'
import { composeApi } from './api.ts'
import { composeWorker } from './worker.ts'

const logger = createLogger({ level: 'silent' })
const keys = createKeys()
const secrets = toServiceSecrets(keys)
let database: TestDatabase
let logins: Awaited<ReturnType<typeof createLogins>>
let chains: Awaited<ReturnType<typeof startOne>>[]

async function startOne(plan: (typeof EVM_CHAINS)[number]) {
  const { name, chainId } = plan
  const node = await startChain({ name, chainId, blockMs: 500 })
  const { contracts, tokens, feeds } = await deployContracts({ ...plan, rpcUrl: node.rpcUrl, keys })
  return { name, chainId, node, contracts, tokens, feeds }
}

beforeAll(async () => {
  database = await startTestDatabase()
  logins = await createLogins(database.url)
  chains = await Promise.all(EVM_CHAINS.map(startOne))
})
afterAll(async () => {
  await Promise.all(chains.map(({ node }) => node.stop()))
  await database.stop()
})

/** The file of an operator, whose second chain has no vault there. */
function networkOf() {
  const [first] = chains
  if (!first) throw new Error('No chain')
  const address = (pairs: readonly { address: string }[]) => pairs.map((pair) => pair.address)
  return {
    network: 'local',
    relayers: address(keys.relayers),
    authorizationRelayers: address(keys.authorizationRelayers),
    deliverers: address(keys.deliverers),
    attesters: { members: address(keys.attesters), threshold: keys.threshold },
    treasury: keys.treasury.address,
    chains: chains.map(({ name, chainId, node, contracts, tokens }, index) => ({
      ...{ chainId, name, family: 'evm', rpcUrls: [node.rpcUrl], attesterRpcUrls: [node.rpcUrl] },
      contracts: index === 0 ? contracts : { ...contracts, vault: `0x${'e'.repeat(40)}` },
      native: { symbol: 'ETH', asset: 'ETH' },
      // The first tells another symbol, the second other decimals, and at the last there is no token.
      tokens: tokens.slice(0, 3).map(({ symbol, address, decimals }, position) => ({
        symbol: position === 0 ? 'OLD' : symbol,
        address: position === 2 ? `0x${'d'.repeat(40)}` : address,
        decimals: position === 1 ? decimals + 1 : decimals,
        asset: 'USDC',
      })),
      finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 4 },
      blockMs: 500,
    })),
    assets: ['ETH', 'USDC'].map((name) => ({
      name,
      sources: first.feeds
        .filter(({ asset }) => asset === name)
        .map((feed) => ({
          ...{ kind: 'chainlink', chainId: first.chainId, address: feed.address, maxAgeSeconds: 3_600 },
          // The feed has another name now.
          ...(name === 'ETH' && { description: 'Ether / USD' }),
        })),
    })),
    venues: [{ kind: 'inventory' }],
  }
}

async function configOf(role: 'api' | 'worker', network: object) {
  const file = join(await mkdtemp(join(tmpdir(), 'geoswap-start-')), 'service.json')
  await writeFile(file, JSON.stringify(network))
  const own = { DATABASE_URL: logins[role], GEOSWAP_CONFIG: file, PORT: '0' }
  return loadConfig({ ...own, ...secrets[role] }, role)
}

async function makeApiKey(): Promise<string> {
  const { key, id, hash } = createApiKey('local')
  const accountId = await insertTestAccount(database.pool)
  await insertApiKey(database.pool, { id, accountId, hash, name: '', origins: [], rules: {} })
  return key
}

test('changes of tokens and feeds close these alone, and a chain of other contracts itself alone', async () => {
  const [first, second] = chains
  if (!first || !second) throw new Error('Two chains are needed')
  const headers = { 'x-api-key': await makeApiKey() }
  const worker = await composeWorker(await configOf('worker', networkOf()), logger)
  await worker.start()
  const api = await composeApi(await configOf('api', networkOf()), logger)
  const get = async (url: string) => (await api.app.inject({ url, headers })).json()
  try {
    const { tokens } = await get(`/swap/tokens?chainId=${first.chainId}`)
    const [, renamed] = tokens
    const wallet = keys.faucet.address
    const asked = { originChain: first.chainId, destinationChain: first.chainId, amount: '1' }
    const sides = { inputToken: renamed.address, outputToken: tokens[0].address, walletAddress: wallet }
    const payload = { ...asked, ...sides }
    const quote = await api.app.inject({ method: 'POST', url: '/swap/quote', headers, payload })
    const metrics = (await api.app.inject('/metrics')).payload

    const [one, two] = first.tokens
    expect(tokens.map(({ closed }: { closed?: string }) => closed)).toEqual([
      undefined,
      `${first.name}: the token at ${one?.address} has the symbol ${one?.symbol}, not OLD`,
      expect.stringContaining(`has ${two?.decimals} decimals, not ${(two?.decimals ?? 0) + 1}`),
      expect.stringContaining('there is no token'),
    ])
    expect([quote.statusCode, quote.json().code]).toEqual([422, 'UNSUPPORTED_TOKEN'])
    expect(metrics).toContain(`geoswap_token_closed{chain="${first.name}",token="${one?.address}"} 1`)
    // The worker reads the first chain, and nothing of the second.
    await expect
      .poll(async () => (await get('/swap/chains')).chains.map(({ reason }: { reason?: string }) => reason), {
        timeout: 30_000,
      })
      .toEqual(['PRICE_UNAVAILABLE', 'CHAIN_UNAVAILABLE'])
    await expect
      .poll(async () => (await get('/swap/tokens')).tokens[1].priceUsd, { timeout: 30_000 })
      .toBe('1.00')
  } finally {
    await api.close()
    await worker.close()
  }
})
