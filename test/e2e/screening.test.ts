import { writeFileSync } from 'node:fs'
import { type Address, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeAll, expect, inject, test } from 'vitest'
import { screening } from '../../packages/service/src/operate/screening.ts'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { passDeadline, pay, submitBy } from '../ways.ts'
import {
  createWorld,
  outcomeOf,
  prepare,
  quoteOnceSettled,
  stageOf,
  submitPrepared,
  toRequest,
  until,
} from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const operator = createOperator(inject('databaseUrl'))
const list = inject('screeningList')
const USDC = 1_000_000n
const AMOUNT = 10n * USDC
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: AMOUNT }

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
})

/** The numbers of addresses that the processes have in memory, without those that screen nobody. */
async function listedCounts(): Promise<number[]> {
  const texts = await Promise.all(
    [`${local.apiUrl}/metrics`, ...local.metricsUrls].map(async (url) => (await fetch(url)).text()),
  )
  return texts.flatMap((text) => {
    const count = /^geoswap_screening_listed\{source="own"\} (\d+)$/m.exec(text)?.[1]
    return count === undefined ? [] : [Number(count)]
  })
}

// Each list has another number of lines, so that it can be told from the last one.
let lists = 0

/** Writes the whole list, and waits until API and worker use it. */
async function deny(...addresses: string[]): Promise<void> {
  lists += 1
  const filler = Array.from({ length: 10 * lists }, (_, index) => numberToHex(index, { size: 20 }))
  const lines = [...filler, ...addresses]
  writeFileSync(list, `# version: ${lists}\n${lines.join('\n')}\n`)
  await until(async () => {
    const counts = await listedCounts()
    return counts.length === 2 && counts.every((count) => count === lines.length)
  })
}

afterEach(async () => {
  await Promise.all([alpha.resume(), beta.resume(), deny()])
})

const denialsOf = (address: string) =>
  operator.query<{ point: string; role: string; list: string; version: string }>(
    'select point, role, list, version from screening_denials where lower(address) = lower($1) order by id',
    [address],
  )

test('403 ADDRESS_BLOCKED answers a listed wallet at the quote, and says nothing else', async () => {
  const wallet = { address: privateKeyToAddress(generatePrivateKey()) }
  const request = toRequest(wallet, order)
  await quoteOnceSettled(api, request)

  await deny(wallet.address.toUpperCase())
  const reply = await api.quote(request)

  expect(refusalOf(reply)).toBe('403 ADDRESS_BLOCKED')
  expect(reply.body.details).toBeUndefined()
  expect(reply.body.recovery).toEqual({ action: 'USE_OTHER_WALLET' })
  const denials = await until(async () => {
    const found = await denialsOf(wallet.address)
    return found.length === 2 && found
  })
  expect(new Set(denials.map(({ role }) => role))).toEqual(new Set(['wallet', 'recipient']))
  expect(denials).toMatchObject([{ point: 'quote', list: 'own', version: `${lists}` }, { point: 'quote' }])
  await deny()
  expect(refusalOf(await api.quote(request))).toBe('200 OK')
})

test('a listed wallet is served again when the operator allows it, and not when that is withdrawn', async () => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  const request = toRequest({ address }, order)
  const output = { out() {}, hint() {} }
  const decide = (verdict: string) =>
    screening(
      [verdict, address, '--reason', 'test', '--author', 'me'],
      { DATABASE_URL: inject('databaseUrl') },
      output,
    )
  const untilQuoted = (answer: string) => until(async () => refusalOf(await api.quote(request)) === answer)
  await deny(address)
  await untilQuoted('403 ADDRESS_BLOCKED')

  await decide('allow')
  await untilQuoted('200 OK')
  await decide('clear')
  await untilQuoted('403 ADDRESS_BLOCKED')
})

test('422 UNSUPPORTED_TOKEN answers a quote of an asset that is refused in the region of the header', async () => {
  const wallet = { address: privateKeyToAddress(generatePrivateKey()) }
  const quote = (buy: string, region: string) =>
    api.send({
      ...{ method: 'POST', path: '/swap/quote', body: JSON.stringify(toRequest(wallet, { ...order, buy })) },
      headers: { 'x-api-key': api.apiKey, 'content-type': 'application/json', 'x-test-region': region },
    })

  const refused = await quote('GEO', 'XX')

  expect(refused).toMatchObject({ status: 422, body: { code: 'UNSUPPORTED_TOKEN' } })
  expect([(await quote('GEO', 'YY')).status, (await quote('USDC', 'XX')).status]).toEqual([200, 200])
  expect(await until(async () => (await denialsOf(wallet.address))[0])).toMatchObject({ list: 'regions' })
})

test('403 ADDRESS_BLOCKED answers a submission whose recipient was listed after the build', async () => {
  const recipient = privateKeyToAddress(generatePrivateKey())
  const wallet = await world.walletWith(alpha, 'USDC', AMOUNT)
  const prepared = await prepare({ api }, wallet, { ...order, recipient })

  await deny(recipient)

  await expect(submitPrepared({ api }, prepared)).rejects.toThrow('403 ADDRESS_BLOCKED')
})

test('a recipient that is listed between lock and delivery is not paid, and the input goes back', async () => {
  const recipient = privateKeyToAddress(generatePrivateKey())
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const prepared = await prepare({ api }, wallet, { ...order, recipient })
  await alpha.halt()
  const { swapId } = await submitPrepared({ api }, prepared)
  await stageOf({ api }, swapId, 'locking')
  await alpha.untilPending()

  await deny(recipient)
  await alpha.resume()
  const outcome = await outcomeOf({ api }, swapId)

  expect(outcome).toMatchObject({
    status: 'refunded',
    refund: { reason: 'ADDRESS_BLOCKED', amount: `${AMOUNT}` },
  })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
  expect(await beta.balanceOf(recipient, 'USDC')).toBe(0n)
  expect(await denialsOf(recipient)).toMatchObject([{ point: 'delivery', role: 'recipient', list: 'own' }])
})

const opened = async () => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const payer = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const { swapId, build } = await submitBy({ api }, wallet, { order, method: 'deposit' })
  const send = (from: Address, amount: bigint) =>
    pay(alpha, from, { to: build.depositAddress as Address, symbol: 'USDC', amount })
  return { wallet, payer, swapId, build, send }
}

test('a deposit of a listed sender is not swapped, and goes back to the wallet of the swap', async () => {
  const { wallet, payer, swapId, build, send } = await opened()

  await deny(payer.address)
  await send(payer.address, AMOUNT)
  const outcome = await outcomeOf({ api }, swapId)
  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'ADDRESS_BLOCKED' } })
  await passDeadline(alpha, build)
  const returned = await until(async () => (await api.status(swapId, 0)).body.deposit?.returned)

  expect(returned).toMatchObject([{ amount: `${AMOUNT}` }])
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT)
  expect(await denialsOf(payer.address)).toMatchObject([{ point: 'deposit', role: 'depositor' }])
})

test('dust of a listed sender does not stop a deposit', async () => {
  const { payer, swapId, send } = await opened()
  const stranger = await world.walletWith(alpha, 'USDC', USDC)
  await deny(stranger.address)

  await send(stranger.address, 1n)
  await send(payer.address, AMOUNT)

  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
})
