import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Key, type Keys, type Network, startNetwork } from '@geoswap/devnet'
import type { BuildGeoOpReply, OriginMethod } from '@geoswap/wire'
import { Client } from 'pg'
import { type Address, type Hex, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type StandInSigner, startWeb3Signer } from '../../packages/service/test/support/web3signer.ts'
import { findServerCrashes } from '../chaos/checker/server-crashes.ts'
import { createCli } from '../cli.ts'
import { type RpcProxy, startRpcProxy } from '../rpc-proxy.ts'
import { submitBy } from '../ways.ts'
import {
  createWorld,
  type LocalNetwork,
  outcomeOf,
  prepare,
  stageOf,
  submitSwap,
  toRequest,
  until,
  type World,
} from '../world.ts'

const USDC = 1_000_000n
const SEND = 'eth_sendRawTransaction'
const FROM_DATABASE = /^geoswap_(claim_margin_used_ratio|swaps|lanes_held|chain_live)\b/m
const OUTAGE_MS = Number(process.env['OUTAGE_MS'] ?? 6_000)

let network: Network
let world: World
const proxies = new Map<string, RpcProxy>()
const nodes = new Map<string, string>()
const signers = new Map<'worker' | 'attester', StandInSigner>()

beforeAll(async () => {
  for (const name of ['alpha', 'beta']) proxies.set(name, await startRpcProxy(() => nodes.get(name) ?? ''))
  const { PATH = '', HOME = '' } = process.env
  network = await startNetwork({
    env: { PATH, HOME },
    remoteSigners: startSigners,
    serviceRpcUrl({ name, rpcUrl }) {
      nodes.set(name, rpcUrl)
      return proxies.get(name)?.url ?? rpcUrl
    },
  })
  world = createWorld(network.local as LocalNetwork)
})

afterEach(() => {
  for (const proxy of proxies.values()) proxy.onCall(undefined)
  for (const signer of signers.values()) signer.behave('usual')
})

afterAll(async () => {
  const log = network && readFileSync(join(network.home, 'logs', 'postgres.log'), 'utf8')
  await network?.stop()
  for (const server of [...proxies.values(), ...signers.values()]) await server.stop()
  expect(findServerCrashes(log ?? '')).toEqual([])
})

/** All EVM keys of the service are behind signers: one for the worker, one for the attester. */
async function startSigners({ relayers, authorizationRelayers, deliverers, attesters }: Keys) {
  const held = { worker: [...relayers, ...authorizationRelayers, ...deliverers], attester: attesters }
  return Promise.all([startSigner('worker', held.worker), startSigner('attester', held.attester)])
}

async function startSigner(role: 'worker' | 'attester', keys: readonly Key[]) {
  const signer = await startWeb3Signer(keys.map(({ privateKey }) => privateKey))
  signers.set(role, signer)
  return { url: signer.url, addresses: keys.map(({ address }) => address), timeoutMs: 1_000 }
}

function signerOf(role: 'worker' | 'attester'): StandInSigner {
  const signer = signers.get(role)
  if (!signer) throw new Error(`No signer for ${role}`)
  return signer
}

function proxyOf(name: string): RpcProxy {
  const proxy = proxies.get(name)
  if (!proxy) throw new Error(`No proxy for ${name}`)
  return proxy
}

const order = () => ({ from: world.alpha, sell: 'USDC', to: world.beta, buy: 'WETH', amount: 10n * USDC })

/** The balances after exactly one settled swap of 10 USDC. */
async function expectSettledOnce(
  wallet: { address: `0x${string}` },
  swap: { swapId: string; quote: { output: string } },
) {
  expect((await outcomeOf(world, swap.swapId)).status).toBe('settled')
  expect(await world.alpha.balanceOf(wallet.address, 'USDC')).toBe(90n * USDC)
  expect(await world.beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(swap.quote.output))
}

test('every transaction that reaches a node was committed before, to the byte', async () => {
  const db = new Client(network.databaseUrl)
  await db.connect()
  const misses: string[] = []
  let seen = 0
  const check = async ({ method, params }: { method: string; params: unknown[] }) => {
    if (method !== SEND) return 'forward' as const
    seen += 1
    const hash = keccak256(params[0] as Hex)
    const { rowCount } = await db.query('select 1 from tx_attempts where tx_hash = $1 and raw = $2', [
      hash,
      params[0],
    ])
    if (rowCount !== 1) misses.push(hash)
    return 'forward' as const
  }
  for (const proxy of proxies.values()) proxy.onCall(check)
  const wallet = await world.walletWith(world.alpha, 'USDC', 100n * USDC)

  const swap = await submitSwap(world, wallet, order())
  await expectSettledOnce(wallet, swap)
  for (const proxy of proxies.values()) proxy.onCall(undefined)
  await db.end()

  expect(seen).toBeGreaterThanOrEqual(2)
  expect(misses).toEqual([])
})

async function readMetrics(): Promise<string> {
  const texts = network.local.metricsUrls.map(async (url) => (await fetch(url)).text())
  return (await Promise.all(texts)).join('\n')
}

// Metrics name a signer by its place in the configuration.
const PLACES = { worker: 1, attester: 2 }

const isUp = (role: 'worker' | 'attester', up: 0 | 1) => async () =>
  (await readMetrics()).includes(`geoswap_signer_up{signer="${PLACES[role]}"} ${up}`)

/** The remote signers that do not sign, as each process says at /ready. */
async function readSilentSigners() {
  const urls = [`${network.local.apiUrl}/ready`, ...network.local.metricsUrls.map(toReady)]
  const replies = await Promise.all(urls.map(async (url) => (await fetch(url)).json()))
  return replies.map((reply) => (reply as { checks: { signers: string[] } }).checks.signers)
}

const toReady = (url: string) => url.replace('/metrics', '/ready')

test('while signers are away nothing is sent and metrics show it; then the swap settles and is claimed', async () => {
  let sent = 0
  for (const proxy of proxies.values())
    proxy.onCall(({ method }) => {
      if (method === SEND) sent += 1
      return 'forward'
    })
  const wallet = await world.walletWith(world.alpha, 'USDC', 100n * USDC)
  const prepared = await prepare(world, wallet, order())
  for (const signer of signers.values()) signer.behave('away')

  const { body } = await world.api.submit(prepared.submission)
  const swap = { ...prepared, swapId: body.swapId }
  await until(isUp('worker', 0))
  const sentMeanwhile = sent
  for (const signer of signers.values()) signer.behave('usual')

  await expectSettledOnce(wallet, swap)
  await until(async () => (await world.alpha.lockStateOf(swap.build)) === 'claimed')
  await until(isUp('worker', 1))
  expect(sentMeanwhile).toBe(0)
  expect(signerOf('attester').asked.length).toBeGreaterThan(0)
})

test('503 CHAIN_UNAVAILABLE while a signer is away, each /ready names it, and quotes return with it', async () => {
  const wallet = { address: privateKeyToAddress(generatePrivateKey()) }
  const quote = () => world.api.quote(toRequest(wallet, order()))
  for (const signer of signers.values()) signer.behave('away')

  const away = ['alpha', 'beta'].map(
    (chain) => `remote signer 1 does not sign for relay, authorize, deliver on ${chain}`,
  )
  await until(async () => (await readSilentSigners()).flat().length === 2 * away.length + 1)
  const [api, worker, attester] = await readSilentSigners()
  const refusal = await quote()
  for (const signer of signers.values()) signer.behave('usual')
  await until(async () => (await quote()).status === 200)

  expect(refusal).toMatchObject({
    status: 503,
    body: { code: 'CHAIN_UNAVAILABLE', message: expect.stringContaining(away[0] ?? '') },
  })
  expect([api, worker]).toEqual([away, away])
  expect(attester).toEqual(['remote signer 2 does not sign for the attester'])
  await until(async () => (await readSilentSigners()).every(({ length }) => length === 0))
})

test('a lock and a delivery whose replies are lost are sent again unchanged', async () => {
  const lost = new Set<string>()
  for (const [name, proxy] of proxies) {
    proxy.onCall(({ method }) => {
      if (method !== SEND || lost.has(name)) return 'forward'
      lost.add(name)
      return 'dropReply'
    })
  }
  const wallet = await world.walletWith(world.alpha, 'USDC', 100n * USDC)

  const swap = await submitSwap(world, wallet, order())

  await expectSettledOnce(wallet, swap)
  expect(lost).toEqual(new Set(['alpha', 'beta']))
})

test.each(['alpha', 'beta'])(
  'a worker killed between commit and broadcast on %s is replaced, and the swap settles once',
  async (name) => {
    let killed = 0
    proxyOf(name).onCall(({ method }) => {
      if (method !== SEND || killed > 0) return 'forward'
      killed += 1
      network.kill('worker')
      return 'dropRequest'
    })
    const wallet = await world.walletWith(world.alpha, 'USDC', 100n * USDC)

    const swap = await submitSwap(world, wallet, order())

    await expectSettledOnce(wallet, swap)
    expect(killed).toBe(1)
  },
)

test('a killed database, API and attester restart, and a pending swap settles once', async () => {
  const wallet = await world.walletWith(world.alpha, 'USDC', 100n * USDC)
  const swap = await submitSwap(world, wallet, order())

  for (const role of ['postgres', 'api', 'attester']) network.kill(role)
  await until(() =>
    world.api.status(swap.swapId, 0).then(
      (reply) => reply.status === 200,
      () => false,
    ),
  )

  await expectSettledOnce(wallet, swap)
  await until(async () => (await world.alpha.lockStateOf(swap.build)) === 'claimed')
})

test('a chain that is down when the service starts has every way in once it answers', async () => {
  const { alpha, beta, api } = world
  const waysOf = async () => {
    const { body } = await api.tokens(alpha.chainId)
    return body.tokens.find(({ symbol }) => symbol === 'USDC')?.originMethods
  }
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  proxyOf('alpha').onCall(() => 'dropRequest')
  for (const role of ['api', 'worker']) network.kill(role)
  const down = await until(() => waysOf().catch(() => undefined))
  proxyOf('alpha').onCall(undefined)

  const up = await until(async () => {
    const ways = await waysOf()
    return ways?.includes('authorization') ? ways : undefined
  })
  const bought = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const { swapId } = await submitBy(world, wallet, { order: bought, method: 'authorization' })

  expect(down).toEqual(['delegation', 'deposit', 'transfer'])
  expect(up).toEqual(['delegation', 'authorization', 'permit', 'deposit', 'transfer'])
  expect((await outcomeOf(world, swapId)).status).toBe('settled')
})

test('an outage of the database and of every node writes less than 50 kB per process, and has a name', async () => {
  const roles = ['api', 'worker', 'attester']
  const bytesOf = () => roles.map((role) => statSync(join(network.home, 'logs', `${role}.log`)).size)
  const before = bytesOf()
  for (const proxy of proxies.values()) proxy.onCall(() => 'dropRequest')
  const end = Date.now() + OUTAGE_MS
  const served = [`${network.local.apiUrl}/metrics`, ...network.local.metricsUrls]
  const seen = new Set<string>()
  await until(async () => {
    if (network.pids['postgres']?.length) network.kill('postgres')
    for (const url of served) {
      const text = await fetch(url).then((reply) => reply.text())
      if (text.includes('geoswap_database_up 0') && !FROM_DATABASE.test(text)) seen.add(url)
    }
    return Date.now() > end && seen.size === 3
  })
  const written = bytesOf().map((bytes, index) => bytes - (before[index] ?? 0))
  for (const proxy of proxies.values()) proxy.onCall(undefined)

  for (const bytes of written) expect(bytes).toBeLessThan(50_000)
  await until(async () => {
    const replies = await Promise.all(served.map((url) => fetch(toReady(url))))
    return replies.every(({ status }) => status === 200)
  })
})

test('with the whole service dead, the CLI returns each input with a node and nothing else', async () => {
  const { alpha } = world
  const cli = await createCli(network.local as LocalNetwork)
  const gasKey = generatePrivateKey()
  await alpha.client.setBalance({ address: privateKeyToAddress(gasKey), value: 10n ** 18n })
  // No delivery arrives.
  proxyOf('beta').onCall(({ method }) => (method === SEND ? 'dropRequest' : 'forward'))
  const swapping = cli.start(['swap', 'alpha:USDC', 'beta:WETH', '--amount', '10', '--method', 'delegation'])
  const swapId = await swapping.says(/submitted (swp_\w+)/)
  swapping.child.kill()
  const signed = await Promise.all([lockedBy('authorization'), lockedBy('permit')])
  const [deposited, unpaid] = [await lockedBy('deposit'), await openDeposit()]
  await Promise.all([swapId, ...[...signed, deposited].map((each) => each.swapId)].map(untilDelivering))
  await Promise.all(['api', 'worker', 'attester'].map(network.dismiss))
  await unpaid.deposit()
  const run = (command: string, ...which: string[]) => cli.json(command, ...which, '--gas-key', gasKey)
  const alone = ({ build }: { build: BuildGeoOpReply }) => {
    const file = join(cli.home, `${build.geoOpHash}.json`)
    writeFileSync(file, JSON.stringify(build.operation))
    return ['--operation', file, '--rpc', nodes.get('alpha') ?? '', '--url', 'http://127.0.0.1:1']
  }

  const early = await run('refund', swapId)
  const [unlocked, tooEarly] = [await run('refund', ...alone(unpaid)), await run('recover', ...alone(unpaid))]
  const deadlines = [...signed, deposited].map(({ build }) => refundDeadlineOf(build))
  const last = Math.max(Date.parse(early.reply.error.refundDeadline) / 1_000, ...deadlines)
  await alpha.advance(last - Number((await alpha.client.getBlock()).timestamp) + 1)
  await alpha.mine()
  const first = await run('refund', swapId)
  const again = await run('refund', swapId)
  const refunds = []
  for (const swap of [...signed, deposited]) refunds.push(await run('refund', ...alone(swap)))
  const recovered = await run('recover', ...alone(unpaid))
  cli.remove()

  const amount = `${10n * USDC}`
  expect([early.code, early.reply.error.code]).toEqual([1, 'TOO_EARLY'])
  expect(unlocked.reply.error).toMatchObject({ code: 'NOT_REFUNDABLE' })
  expect(tooEarly.reply.error).toMatchObject({ code: 'TOO_EARLY' })
  expect([first.code, first.reply]).toMatchObject([0, { refunded: true, amount, credited: false }])
  expect([again.code, again.reply.txHash]).toEqual([0, undefined])
  for (const { code, reply } of refunds) expect([code, reply]).toMatchObject([0, { refunded: true, amount }])
  expect([recovered.code, recovered.reply]).toMatchObject([0, { recovered: [{ amount }] }])
  const owners = [...signed, deposited, unpaid].map(({ wallet }) => wallet.address)
  for (const owner of owners) expect(await alpha.balanceOf(owner, 'USDC')).toBe(10n * USDC)
  // The faucet gave it the input twice.
  expect(await alpha.balanceOf(first.reply.wallet, 'USDC')).toBe(20n * USDC)
})

const untilDelivering = (swapId: string) => stageOf(world, swapId, 'delivering')
const refundDeadlineOf = ({ operation: { message } }: BuildGeoOpReply) =>
  Number((message as { refundDeadline: string }).refundDeadline)
const pegged = () => ({ ...order(), buy: 'USDC' })

async function lockedBy(method: OriginMethod) {
  if (method === 'deposit') {
    const opened = await openDeposit()
    await opened.deposit()
    return opened
  }
  const wallet = await world.walletWith(world.alpha, 'USDC', 10n * USDC)
  return { wallet, ...(await submitBy(world, wallet, { order: pegged(), method })) }
}

/** A swap of a wallet that holds nothing, and a deposit by somebody else. */
async function openDeposit() {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const opened = await submitBy(world, wallet, { order: pegged(), method: 'deposit' })
  const to = opened.build.depositAddress as Address
  return { wallet, ...opened, deposit: () => world.fund(world.alpha, to, 'USDC', 10n * USDC) }
}
