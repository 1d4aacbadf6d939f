import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createClient } from '@geoswap/sdk'
import { type StatusReply, WebhookEvent } from '@geoswap/wire'
import { Check } from 'typebox/value'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { runWebhookCommand } from '../../packages/service/src/operate/webhook.ts'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { passDeadline, pay, submitBy } from '../ways.ts'
import { createWorld, submitSwap, until } from '../world.ts'

const local = inject('local')
const operator = createOperator(inject('databaseUrl'))
const world = createWorld(local)
const { alpha, beta } = world
const USDC = 1_000_000n
const order = { from: alpha, sell: 'ETH', to: beta, buy: 'USDC', amount: 10n ** 17n }

type Posted = { id: string; signature: string; signed: string; event: WebhookEvent }
const posted: Posted[] = []
const receiver = createServer(async (request, response) => {
  const body = await text(request)
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers
  posted.push({
    ...{ id: String(id), signature: String(signature), signed: `${id}.${at}.${body}` },
    event: JSON.parse(body),
  })
  response.writeHead(204).end()
})

let api: CheckedClient
let secret: Buffer
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const apiKey = await operator.createKey()
  api = createCheckedClient({ ...local, apiKey })
  const [account] = await operator.query<{ id: string }>(
    'select account_id as id from api_keys where id = $1',
    [apiKey.split('_')[2]],
  )
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const out: string[] = []
  const output = { out: (line: string) => void out.push(line), hint: () => {} }
  const args = ['add', '--account', account?.id ?? '', '--url', url]
  await runWebhookCommand(args, { GEOSWAP_HOME: inject('home') }, output)
  secret = Buffer.from(out.join().replace('whsec_', ''), 'base64')
})
afterAll(() => {
  receiver.close()
})

test('a swap is reported identically by stream, webhook, history and status', async () => {
  const wallet = await delegatedWallet(alpha)
  const client = createClient({ baseUrl: local.apiUrl, apiKey: api.apiKey })
  const externalId = 'invoice-17'
  const { swapId, quote } = await submitSwap({ api }, wallet, { ...order, externalId })

  const streamed: StatusReply[] = []
  for await (const { id, swap } of client.events(swapId)) {
    streamed.push(swap)
    expect(id).toBe(String(streamed.length))
  }

  const { body: status } = await api.status(swapId)
  expect(streamed.at(-1)).toEqual(status)
  expect(status).toMatchObject({ status: 'settled', externalId, amounts: { delivered: quote.output } })
  const stages = streamed.map(({ substatus }) => substatus)
  expect(stages).toEqual(['accepted', 'locking', 'locked', 'delivering', 'delivered'])

  const mine = await until(() => {
    const events = posted.filter(({ event }) => event.data.swapId === swapId)
    return Promise.resolve(events.length >= streamed.length && events)
  })
  const told = mine.map(({ event }) => event).sort((a, b) => a.sequence - b.sequence)
  const asked = { walletAddress: wallet.address, recipient: wallet.address }
  const tokens = { inputToken: alpha.token('ETH'), outputToken: beta.token('USDC') }
  const caip = {
    ...{ originChain: 'eip155:31337', destinationChain: 'eip155:31338' },
    ...{ walletAddress: `eip155:31337:${wallet.address}`, recipient: `eip155:31338:${wallet.address}` },
    ...{ inputToken: 'eip155:31337/slip44:60', outputToken: `eip155:31338/erc20:${beta.token('USDC')}` },
  }
  expect(told.map(({ data }) => data)).toEqual(
    streamed.map((swap) => ({ ...swap, ...asked, ...tokens, caip })),
  )
  for (const { signed, signature, event } of mine) {
    expect(signature).toBe(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    expect(Check(WebhookEvent, event)).toBe(true)
  }

  const page = await client.history({ wallet: wallet.address.toLowerCase(), status: 'settled', limit: 1 })
  expect(page).toEqual({ swaps: [told.at(-1)?.data] })
})

test('of a deposit they say what came, by which transaction, and what went back after the end', async () => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const payer = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const client = createClient({ baseUrl: local.apiUrl, apiKey: api.apiKey })
  const pegged = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const { swapId, build } = await submitBy({ api }, wallet, { order: pegged, method: 'deposit' })
  const address = build.depositAddress ?? ''
  const send = (amount: bigint) => pay(alpha, payer.address, { to: address, symbol: 'USDC', amount })

  const part = { received: `${4n * USDC}`, txHash: await send(4n * USDC) }
  await until(async () => (await api.status(swapId, 0)).body.deposit?.received === part.received)
  const all = { received: `${13n * USDC}`, txHash: await send(9n * USDC) }
  const streamed: StatusReply[] = []
  for await (const { swap } of client.events(swapId)) streamed.push(swap)
  await passDeadline(alpha, build)
  const told = await until(async () => {
    const mine = posted.map(({ event }) => event).filter(({ data }) => data.swapId === swapId)
    return mine.length > streamed.length && mine.sort((a, b) => a.sequence - b.sequence)
  })

  const withoutRepeats = <T>(items: readonly T[]) =>
    items.filter((item, index) => index === 0 || item !== items[index - 1])
  const receivedIn = ({ deposit }: StatusReply) => deposit?.received
  // That the transaction of a deposit was found is an event of its own, at any time after the deposit.
  expect(withoutRepeats(streamed.map(({ substatus }) => substatus))).toEqual([
    ...['awaitingDeposit', 'accepted', 'locking', 'locked', 'delivering', 'delivered'],
  ])
  expect(withoutRepeats(streamed.map(receivedIn))).toEqual([undefined, part.received, all.received])
  expect(streamed.at(-1)?.deposit).toMatchObject(all)
  expect(told.slice(0, -1).map(({ data }) => data)).toMatchObject(streamed)
  const last = told.at(-1)
  const { body: status } = await api.status(swapId)
  const page = await client.history({ wallet: wallet.address })
  const returned = [{ token: alpha.token('USDC'), amount: `${3n * USDC}`, txHash: expect.any(String) }]
  expect([last?.type, last?.sequence]).toEqual(['swap.settled', streamed.length + 1])
  expect(status.deposit).toEqual({ address, until: build.depositUntil, ...all, returned })
  expect(last?.data).toMatchObject(status)
  expect(page).toEqual({ swaps: [last?.data] })
})

test('another account has no access to the stream or the history of a swap', async () => {
  const { swaps } = await createClient({ baseUrl: local.apiUrl, apiKey: api.apiKey }).history()
  const stranger = createCheckedClient({ ...local, apiKey: await operator.createKey() })

  const stream = await stranger.call<object>('GET', `/swap/status/${swaps[0]?.swapId}/events`)
  const history = await stranger.call<object>('GET', '/swap/history')

  expect(swaps.length).toBeGreaterThan(0)
  expect(refusalOf(stream)).toBe('404 SWAP_NOT_FOUND')
  expect(history.body).toEqual({ swaps: [] })
})
