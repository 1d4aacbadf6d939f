import { createClient, fromViemAccount } from '@geoswap/sdk'
import type { HistoryReply } from '@geoswap/wire'
import { createSignerClient } from '@slicekit/erc8128'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { expect, inject, test } from 'vitest'
import { runCommand } from '../../packages/service/src/command.ts'
import { wallets } from '../../packages/service/src/operate/wallets.ts'
import { createApiClient, createCall } from '../client.ts'
import { createWorld, outcomeOf, submitPrepared, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const AMOUNT = 10_000_000n
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: AMOUNT }

/** The public client as it is. */
function fetchOf({ address, signMessage }: PrivateKeyAccount): typeof fetch {
  const signer = {
    address,
    chainId: alpha.chainId,
    signMessage: (raw: Uint8Array) => signMessage({ message: { raw } }),
  }
  return createSignerClient(signer).fetch as typeof fetch
}

function apiOf(wallet: PrivateKeyAccount) {
  const api = createApiClient(local, createCall({ ...local, apiKey: '' }, fetchOf(wallet)))
  return { ...api, history: (query = '') => api.call<HistoryReply>('GET', `/swap/history${query}`) }
}

const stranger = () => privateKeyToAccount(generatePrivateKey())

test('a wallet without an API key swaps by requests that it signs, and no other wallet sees the swap', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', AMOUNT)
  const [api, other] = [apiOf(wallet), apiOf(stranger())]

  const prepared = await submitSwap({ api }, wallet, order)
  const { swapId } = prepared
  const outcome = await outcomeOf({ api }, swapId)

  expect(outcome.status).toBe('settled')
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(prepared.quote.output))
  expect((await submitPrepared({ api }, prepared)).swapId).toBe(swapId)
  expect((await api.history()).body.swaps.map((swap) => swap.swapId)).toEqual([swapId])
  expect(await other.status(swapId)).toMatchObject({ status: 404, body: { code: 'SWAP_NOT_FOUND' } })
  expect(await other.history()).toMatchObject({ status: 200, body: { swaps: [] } })
  expect(await other.history(`?wallet=${wallet.address}`)).toMatchObject({ status: 403 })
  expect(await other.quote(toRequest(wallet, order))).toMatchObject({ status: 403 })
})

test('the SDK swaps with a fetch that signs, and without a key', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', AMOUNT)
  const client = createClient({ baseUrl: local.apiUrl, contracts: local.pins, fetch: fetchOf(wallet) })

  const ended = await client.swap(toRequest(wallet, order), fromViemAccount(wallet))

  expect(ended.status).toBe('settled')
  expect(await client.capabilities()).toMatchObject({
    features: { keyless: { enabled: true }, history: { enabled: true }, contractWallets: { enabled: false } },
    limits: { unsubmitted: 64 },
  })
})

test('403 FORBIDDEN for a wallet that the operator froze, until it is unfrozen', async () => {
  const wallet = stranger()
  const api = apiOf(wallet)
  const output = { out: () => {}, hint: () => {} }
  const env = { DATABASE_URL: inject('databaseUrl') }
  const decide = (verb: string) =>
    runCommand(output, () =>
      wallets([verb, wallet.address, '--reason', 'test', '--author', 'Ada'], env, output),
    )
  const untilStatus = (wanted: number) => until(async () => (await api.history()).status === wanted)

  expect((await api.history()).status).toBe(200)
  await decide('freeze')
  await untilStatus(403)
  await decide('unfreeze')
  await untilStatus(200)
})
