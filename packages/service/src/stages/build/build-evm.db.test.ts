import { authorizationOf, depositAddressOf, permitOf } from '@geoswap/protocol'
import type { OriginMethod } from '@geoswap/wire'
import type { Pool } from 'pg'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Delegation } from '../../chains/chain.ts'
import { defaultDeadlines } from '../../config.ts'
import { createPool, type Db } from '../../store/db.ts'
import { insertSwap } from '../../store/submissions.ts'
import { defaultGasBudgets } from '../../swap/budgets.ts'
import { type Quote, type QuotedWays, unquotedTerms } from '../../swap/quote.ts'
import { type BuildDeps, buildGeoOp } from './build-evm.ts'

const CHAIN = 31_337
type Hex = `0x${string}`
const addressOf = (digit: number): Hex => `0x${String(digit).repeat(40)}`
const [WALLET, TOKEN, RELAYER] = [addressOf(1), addressOf(2), addressOf(3)]
const contracts = { account: addressOf(5), escrow: addressOf(6), vault: addressOf(7) }
const DEPOSIT_SECONDS = 900

let database: TestDatabase
let accountId: string
beforeAll(async () => {
  database = await startTestDatabase()
  accountId = await insertTestAccount(database.pool)
})
afterAll(() => database.stop())

const amounts = {
  amountIn: 10n,
  amountOut: 8n,
  minOutput: 7n,
  swappable: 8n,
  priceFloor: 7n,
  payAmount: 8n,
  integratorFee: 0n,
  fastOutput: 0n,
  riskPremium: 0n,
}
const way = { ...amounts, valueCents: 1n }

const newQuote = (ways: QuotedWays = { authorization: way, permit: way, deposit: way }): Quote => ({
  ...unquotedTerms,
  ...{ id: crypto.randomUUID(), originChain: CHAIN, destinationChain: CHAIN },
  ...{ wallet: WALLET, recipient: addressOf(8), inputToken: TOKEN, outputToken: TOKEN, ways },
  ...{ amountIn: 10n, amountOut: 9n, minOutput: 8n, swappable: 9n, venue: 'inventory' },
  ...{ payToken: TOKEN, payAmount: 9n, valueCents: 1n, expiresAt: 1_000 },
})

type Asked = {
  method?: OriginMethod
  code?: Delegation
  balance?: bigint
  block?: bigint
  now?: number
  isServed?: boolean
  isUnknown?: boolean
  cannotSend?: boolean
  mayAdd?: number
  maxUnsubmitted?: number
  maxUnsubmittedCents?: bigint
  walletParts?: number
  signs?: readonly ('authorization' | 'permit')[]
  lockers?: readonly Hex[]
  account?: string
  pool?: Pool
  attestersChangeAt?: number
}

const reads: bigint[] = []
const remembered: string[] = []

function build(quote: Quote, { method, balance = 10n, now = 999, ...asked }: Asked = {}) {
  const signing = { name: 'Test', version: '2', methods: asked.signs ?? ['authorization', 'permit'] }
  const token = { chainId: CHAIN, address: TOKEN, symbol: 'TEST', decimals: 0, asset: 'TEST', signing }
  const coin = { ...token, address: zeroAddress }
  const chain = {
    ...{ family: 'evm', chainId: CHAIN, name: 'alpha', blockSeconds: 1 },
    ...{
      finality: { hardSeconds: 4, reorgWindowSeconds: 4 },
      tokens: [token, coin],
      native: { address: '0x0' },
    },
  }
  const deps = {
    pool: asked.pool ?? database.pool,
    catalog: { chains: new Map([[CHAIN, chain]]), assets: new Map() },
    fees: { accounts: [{ account: asked.account ?? '', maxIntegratorCentiBps: asked.mayAdd }] },
    maxUnsubmitted: asked.maxUnsubmitted ?? 1_000,
    maxUnsubmittedCents: asked.maxUnsubmittedCents ?? 10n ** 9n,
    walletParts: asked.walletParts,
    gasBudgets: defaultGasBudgets,
    market: {
      chainNow: () =>
        asked.isUnknown
          ? undefined
          : {
              ...{ seconds: 100, block: 1n, height: 1n },
              attesterChange: { kind: 'foreign', since: asked.attestersChangeAt ?? 10 ** 9 },
            },
      canSend: () => !asked.cannotSend,
    },
    custodyOf: () => contracts,
    deadlines: defaultDeadlines,
    lockersOf: () => asked.lockers ?? [RELAYER],
    isForDelegations: () => false,
    originOf: () => ({
      readWallet: async () => {
        reads.push(balance)
        return {
          ...{ balance, block: asked.block ?? 1n },
          delegation: asked.code ?? { kind: 'ours', delegate: contracts.account },
        }
      },
      ways: { readPermitNonce: async () => 5n },
    }),
    contractsOf: () => (asked.isServed === false ? undefined : contracts),
    openQuote: () => quote,
    sealOp: () => 'token',
    rememberDelegated: (_chainId: number, wallet: string) => remembered.push(wallet),
    now: () => now,
  }
  const request = { geoQuoteToken: 'token', ...(method && { method }) }
  return buildGeoOp(stub<BuildDeps>(deps), asked.account ?? accountId, request)
}

const paid = { wallet: WALLET, inputAmount: 10n, opDeadline: 280n }
const domain = { name: 'Test', version: '2', chainId: CHAIN, verifyingContract: TOKEN }
const textsOf = (message: object) =>
  Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]))

const rowOf = async ({ geoOpHash }: { geoOpHash: string }) =>
  (await database.pool.query('select * from ops where hash = $1', [geoOpHash])).rows[0]

test('a build without a method is for a delegated wallet, which is remembered, with nothing else to sign', async () => {
  remembered.splice(0)
  const reply = await build(newQuote())

  expect(remembered).toEqual([WALLET])

  expect(reply.method).toBe('delegation')
  expect(reply.operation.message).toMatchObject({ inputAmount: '10' })
  expect(reply).not.toHaveProperty('typedData')
  expect(reply).not.toHaveProperty('depositAddress')
})

test('the name of the quote is answered and stored', async () => {
  const reply = await build({ ...newQuote(), externalId: 'order-4711' })

  expect([reply.externalId, (await rowOf(reply)).external_id]).toEqual(['order-4711', 'order-4711'])
})

test('a build by authorization returns the typed data of the token', async () => {
  const { geoOpHash, typedData } = await build(newQuote(), { method: 'authorization' })

  const message = authorizationOf({ escrow: contracts.escrow }, geoOpHash as Hex, paid)
  expect(typedData).toMatchObject({ primaryType: 'ReceiveWithAuthorization', domain })
  expect(typedData?.message).toEqual(textsOf(message))
})

test('a build by permit returns the typed data with the next number of the wallet', async () => {
  const reply = await build(newQuote(), { method: 'permit' })
  const { geoOpHash, typedData } = reply

  expect((await rowOf(reply)).deposit_address).toBe(depositAddressOf(contracts.escrow, geoOpHash as Hex))
  const message = permitOf({ escrow: contracts.escrow }, geoOpHash as Hex, { ...paid, nonce: 5n })
  expect(typedData).toMatchObject({ primaryType: 'Permit', domain })
  expect(typedData?.message).toEqual(textsOf(message))
})

test('a build by deposit returns the address of the op, for a quarter of an hour, for any balance', async () => {
  reads.splice(0)
  const reply = await build(newQuote(), { method: 'deposit', balance: 0n })
  const { geoOpHash, depositAddress, depositUntil, expiresAt, operation } = reply

  expect(reads).toEqual([0n])
  expect(depositAddress).toBe(depositAddressOf(contracts.escrow, geoOpHash as Hex))
  expect((await rowOf(reply)).deposit_address).toBe(depositAddress)
  expect(depositUntil).toBe(expiresAt)
  expect(Number(operation.message['opDeadline'])).toBeGreaterThanOrEqual(100 + DEPOSIT_SECONDS)
})

test('a build by transfer prepares the transaction of the wallet, in the life of any op', async () => {
  const asked = { method: 'transfer', code: foreign } as const
  const reply = await build(newQuote({ transfer: way }), asked)
  const { geoOpHash, depositAddress, depositUntil, expiresAt, operation } = reply

  const to = depositAddressOf(contracts.escrow, geoOpHash as Hex)
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 10n] })
  expect((await rowOf(reply)).deposit_address).toBe(to)
  expect([depositAddress, depositUntil]).toEqual([to, expiresAt])
  expect(reply.transaction).toEqual({ chainId: CHAIN, to: TOKEN, data, value: '0' })
  expect(reply.sendCalls).toEqual({
    ...{ version: '2.0.0', from: WALLET, chainId: '0x7a69', atomicRequired: false },
    calls: [{ to: TOKEN, data, value: '0x0' }],
  })
  expect(Number(operation.message['opDeadline'])).toBeLessThan(100 + DEPOSIT_SECONDS)
  const short = build(newQuote({ transfer: way }), { ...asked, balance: 9n })
  await expect(short).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' })
})

test('a transfer of native coin carries no data', async () => {
  const quote = { ...newQuote({ transfer: way }), inputToken: zeroAddress }
  const { transaction, sendCalls, depositAddress } = await build(quote, { method: 'transfer' })

  expect(transaction).toEqual({ chainId: CHAIN, to: depositAddress, data: '0x', value: '10' })
  expect(sendCalls?.calls).toEqual([{ to: depositAddress, data: '0x', value: '0xa' }])
})

const foreign: Delegation = { kind: 'foreign', delegate: addressOf(9) }

test.each<[string, Partial<Quote>]>([
  ['input', { inputToken: addressOf(4) }],
  ['output', { outputToken: addressOf(4) }],
  ['destination', { destinationChain: 5 }],
])('QUOTE_EXPIRED answers a quote whose %s is no longer served', async (_, changed) => {
  await expect(build({ ...newQuote(), ...changed })).rejects.toMatchObject({ code: 'QUOTE_EXPIRED' })
})

test('a wallet without our code learns in which other ways it can pay, and is not remembered', async () => {
  remembered.splice(0)
  const code: Delegation = { kind: 'none', nonce: 0, pendingNonce: 0 }

  await expect(build(newQuote(), { code })).rejects.toMatchObject({
    code: 'NEEDS_DELEGATION',
    recovery: { methods: ['authorization', 'permit', 'deposit'] },
  })
  expect(remembered).toEqual([])
})

test.each<[string, QuotedWays, string]>([
  ['the ways that work', { authorization: way, deposit: way }, 'It can by authorization, deposit.'],
  ['that there is none', {}, 'It has no other way.'],
])('a wallet with other code learns %s', async (_, ways, why) => {
  await expect(build(newQuote(ways), { method: 'permit', code: foreign })).rejects.toThrow(why)
})

test('each op names the key that has the fewest open ones, or the first', async () => {
  const lockers = [addressOf(1), addressOf(2), addressOf(4)]
  const named: string[] = []
  for (let count = 0; count < 4; count += 1)
    named.push((await rowOf(await build(newQuote(), { lockers }))).locker)

  expect(named).toEqual([...lockers, lockers[0]])
})

test('an account may have as many operations that wait as it is allowed', async () => {
  const account = await insertTestAccount(database.pool)

  await build(newQuote(), { account, maxUnsubmitted: 1 })
  await expect(build(newQuote(), { account, maxUnsubmitted: 1 })).rejects.toMatchObject({
    code: 'RATE_LIMITED',
  })
})

async function countWaiting(db: Db): Promise<number> {
  const { rowCount } = await db.query("select from pg_locks where locktype = 'advisory' and not granted")
  return rowCount ?? 0
}

test('builds of one account that wait for each other leave connections to other accounts', async () => {
  const [busy, other] = [await insertTestAccount(database.pool), await insertTestAccount(database.pool)]
  const pool = createPool(database.url, { max: 2 })
  onTestFinished(() => pool.end())
  const holder = await database.pool.connect()
  onTestFinished(() => holder.release(true))
  await holder.query('begin')
  await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [busy])
  const waiting = [1, 2, 3].map(() => build(newQuote(), { account: busy, pool }))
  await expect.poll(() => countWaiting(holder)).toBeGreaterThan(0)

  expect(await build(newQuote(), { account: other, pool })).toHaveProperty('geoOpHash')
  await holder.query('rollback')
  expect(await Promise.all(waiting)).toHaveLength(3)
})

test('an account may build ops up to a value before it submits some; one alone may be larger', async () => {
  const account = await insertTestAccount(database.pool)
  const worth = (valueCents: bigint) =>
    build({ ...newQuote(), valueCents }, { account, maxUnsubmittedCents: 100n })

  await worth(101n)
  await expect(worth(1n)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'At most 1.00 USD of built operations may wait for submission. Submit some or wait.',
  })
})

test('where wallets share an account, one may use up a part of its operations and their value', async () => {
  const account = await insertTestAccount(database.pool)
  const limits = { account, maxUnsubmitted: 8, maxUnsubmittedCents: 400n, walletParts: 4 }
  const worth = (valueCents: bigint, wallet: Hex) => build({ ...newQuote(), wallet, valueCents }, limits)
  const [first, second] = [addressOf(1), addressOf(2)]

  await worth(60n, first)
  await expect(worth(60n, first)).rejects.toThrow('At most 1.00 USD')
  await worth(40n, first)
  await expect(worth(0n, first)).rejects.toThrow('At most 2 built operations')
  expect(await worth(60n, second)).toHaveProperty('geoOpHash')
})

test.each([
  ['nothing is booked for an account that may add nothing', undefined, 10n, 0n],
  ['an account is owed at most what it may add', 200_000, 10n, 2n],
  ['and what the output leaves of the input', 1_000_000, 10n, 5n],
  ['a smaller fee is booked as quoted', 500_000, 3n, 3n],
  ['no fee is taken from an account', 500_000, -2n, 0n],
])('whatever the quote says, %s', async (_, mayAdd, integratorFee, booked) => {
  const account = await insertTestAccount(database.pool)

  await build({ ...newQuote(), swappable: 5n, integratorFee }, { account, mayAdd })

  const { rows } = await database.pool.query('select integrator_fee from ops where account_id = $1', [
    account,
  ])
  expect(rows).toEqual([{ integrator_fee: `${booked}` }])
})

test('deposits of a caller who holds nothing leave room to those who hold their input', async () => {
  const account = await insertTestAccount(database.pool)
  const limits = { account, balance: 0n, maxUnsubmitted: 2, maxUnsubmittedCents: 100n }
  const large = { ...way, valueCents: 101n }
  const deposited = () => build(newQuote({ deposit: large }), { ...limits, method: 'deposit' })

  await deposited()
  await deposited()

  await expect(deposited()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(await build(newQuote(), { ...limits, balance: 10n })).toHaveProperty('geoOpHash')
})

test.each<[string, string, Asked, QuotedWays?]>([
  ['INVALID_TOKEN', 'a quote from a chain of another family', { isServed: false }],
  ['QUOTE_EXPIRED', 'a quote at its expiry', { now: 1_000 }],
  ['INSUFFICIENT_BALANCE', 'a wallet that holds too little', { balance: 9n }],
  ['CHAIN_UNAVAILABLE', 'a chain that is not known now', { isUnknown: true }],
  ['CHAIN_UNAVAILABLE', 'a chain whose keys cannot send', { cannotSend: true }],
  ['CHAIN_UNAVAILABLE', 'a chain without a key', { lockers: [] }],
  ['CHAIN_UNAVAILABLE', 'a chain whose attesters change to others', { attestersChangeAt: 101 }],
  ['UNSUPPORTED_METHOD', 'a way that was not quoted', { method: 'permit' }, { authorization: way }],
  [
    'UNSUPPORTED_METHOD',
    'a way that the token does not know',
    { method: 'permit', signs: ['authorization'] },
  ],
  ['UNSUPPORTED_METHOD', 'a permit of a wallet with other code', { method: 'permit', code: foreign }],
])('%s answers %s', async (code, _, asked, ways) => {
  await expect(build(newQuote(ways), asked)).rejects.toMatchObject({ code })
})

test('nothing is built for a wallet that wasted too much gas in this hour', async () => {
  const wallet = addressOf(77)
  await database.pool.query(
    `insert into wasted_hours (scope, id, hour, usd_e6)
     values ('wallet', $1, date_trunc('hour', clock_timestamp()), 2000000)`,
    [wallet],
  )

  await expect(build({ ...newQuote(), wallet })).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    details: { scope: 'wallet' },
  })
})

test('a wallet with other code pays by authorization', async () => {
  expect((await build(newQuote(), { method: 'authorization', code: foreign })).method).toBe('authorization')
})

test('a quote is built in one way only, and its op stays the same', async () => {
  const quote = newQuote()
  const first = await build(quote)

  expect((await build(quote, { balance: 25n, block: 2n })).geoOpHash).toBe(first.geoOpHash)
  expect((await rowOf(first)).wallet_balance).toBe('25')
  await expect(build(quote, { method: 'authorization' })).rejects.toThrow('by delegation')
  const deposited = newQuote()
  await build(deposited, { method: 'deposit' })
  await expect(build(deposited)).rejects.toThrow('by deposit')
})

test('a submitted quote is built again although its own swap has emptied the wallet', async () => {
  const quote = newQuote()
  const { geoOpHash } = await build(quote)
  reads.splice(0)
  await expect(build(quote, { balance: 0n })).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' })
  expect(reads.length).toBeGreaterThan(1)
  const { rows } = await database.pool.query('select id from ops where hash = $1', [geoOpHash])
  await insertSwap(database.pool, { swapId: `swp_${quote.id}`, opId: rows[0].id, signature: '0x' })

  expect((await build(quote, { balance: 0n })).geoOpHash).toBe(geoOpHash)
})
