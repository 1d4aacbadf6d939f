import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import type { Payer } from '../../chains/chain.ts'
import { insertSwap } from '../../store/submissions.ts'
import { defaultGasBudgets } from '../../swap/budgets.ts'
import { type Quote, unquotedTerms } from '../../swap/quote.ts'
import { buildSolanaTx, type SealedInput } from './build-solana.ts'

const [ORIGIN, DESTINATION] = [31_339, 31_338]
const MINT = 'So11111111111111111111111111111111111111112'
const WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'
const addressOf = (digit: number): `0x${string}` => `0x${String(digit).repeat(40)}`

let database: TestDatabase
let accountId: string
beforeAll(async () => {
  database = await startTestDatabase()
  accountId = await insertTestAccount(database.pool)
})
afterAll(() => database.stop())

const newQuote = (): Quote => ({
  ...unquotedTerms,
  ...{ id: crypto.randomUUID(), originChain: ORIGIN, destinationChain: DESTINATION },
  ...{ wallet: WALLET, recipient: addressOf(1), inputToken: MINT, outputToken: addressOf(2) },
  ...{ amountIn: 10n, amountOut: 9n, minOutput: 8n, swappable: 9n, venue: 'inventory' },
  ...{ payToken: addressOf(2), payAmount: 9n, valueCents: 1n, expiresAt: 1_000 },
})

const chainOf = (chainId: number, family: 'evm' | 'solana') => ({
  ...{ family, chainId, name: family, blockSeconds: 1 },
  finality: { hardSeconds: 4, reorgWindowSeconds: 4 },
  tokens: [{ chainId, address: MINT, symbol: 'TEST', decimals: 0, asset: 'TEST' }],
})

type Asked = Partial<Payer> & { now?: number; lifeMs?: number; family?: 'evm' | 'solana'; isSilent?: boolean }

/** Builds for a wallet in this state. Returns the reply, the sealed content and the op that is built. */
async function build(quote: Quote, { now = 0, lifeMs = 60_000, family = 'solana', ...seen }: Asked = {}) {
  const payer = { balance: 10n, block: 1n, isFrozen: false, minimum: 3n, ...seen } as Payer
  const sealed: SealedInput[] = []
  const inputs: { heads?: unknown }[] = []
  const builder = {
    readPayer: async () => {
      if (seen.isSilent) throw new Error('silent')
      return payer
    },
    build: async (input: object) => {
      inputs.push(input)
      const operation = { memo: 'memo' }
      return { unsignedTransaction: 'tx', messageHash: 'hash', lastValid: 7n, lifeMs, operation }
    },
  }
  const deps = {
    fees: { accounts: [] },
    pool: database.pool,
    catalog: {
      chains: new Map([
        [ORIGIN, chainOf(ORIGIN, family)],
        [DESTINATION, chainOf(DESTINATION, 'evm')],
      ]),
      assets: new Map(),
    },
    market: { chainNow: () => ({ seconds: 100, block: 1n, height: 1n }), canSend: () => true },
    custodyOf: (chainId: number) =>
      chainId === ORIGIN ? { program: MINT } : { escrow: addressOf(6), vault: addressOf(7) },
    lockersOf: (_: number, { hasDelegation }: { hasDelegation: boolean }) => (hasDelegation ? [] : [WALLET]),
    deadlines: {
      ...{
        opLifeSeconds: 120,
        volatileLifeSeconds: 60,
        lockInclusionSeconds: 60,
        fillSeconds: 600,
        cutOffSeconds: 60,
      },
      ...{ attemptLifeSeconds: 90, detectionSeconds: 60, claimInclusionSeconds: 300 },
    },
    maxUnsubmitted: 100,
    maxUnsubmittedCents: 10n ** 9n,
    gasBudgets: defaultGasBudgets,
    builderOf: () => (family === 'solana' ? builder : undefined),
    recentHeadsOf: () => 'recent heads',
    openQuote: () => quote,
    sealInput: (_accountId: string, input: SealedInput) => {
      sealed.push(input)
      return 'sealed'
    },
    now: () => now,
  }
  const reply = await buildSolanaTx(deps as never, accountId, { geoQuoteToken: 'token' })
  return { reply, sealed, inputs }
}

test('a build returns the transaction of a stored op, for as long as its blockhash lives', async () => {
  const quote = newQuote()

  const { reply, sealed, inputs } = await build(quote)

  const { rows } = await database.pool.query('select * from ops where quote_id = $1', [quote.id])
  const { id, hash, refund_deadline } = rows[0]
  expect(inputs).toEqual([
    {
      ...{ opHash: hash, wallet: WALLET, token: MINT, amount: 10n, locker: WALLET },
      ...{ refundDeadline: Number(refund_deadline), heads: 'recent heads' },
    },
  ])
  expect(sealed).toEqual([
    { opId: id, chainId: ORIGIN, messageHash: 'hash', lastValid: '7', expiresAt: 60_000 },
  ])
  expect(reply).toMatchObject({
    ...{ unsignedTransaction: 'tx', geoOpToken: 'sealed', expiresAt: new Date(60_000).toISOString() },
    operation: { memo: 'memo', delivery: rows[0].terms },
  })
})

test('a repeated build asks for a newer blockhash', async () => {
  const quote = newQuote()

  const first = await build(quote)
  const second = await build(quote)

  expect([...first.inputs, ...second.inputs].map(({ heads }) => heads !== undefined)).toEqual([true, false])
})

test('a build ends at the latest with its op', async () => {
  const quote = newQuote()

  const { sealed } = await build(quote, { lifeMs: 10 ** 15 })

  const { rows } = await database.pool.query('select expires_at from ops where quote_id = $1', [quote.id])
  expect(sealed[0]?.expiresAt).toBe(rows[0].expires_at.getTime())
})

test.each<[string, string, Asked]>([
  ['401 INVALID_TOKEN', 'a quote from a chain of another family', { family: 'evm' }],
  ['410 QUOTE_EXPIRED', 'a quote at its expiry', { now: 1_000 }],
  ['503 CHAIN_UNAVAILABLE', 'a build while no node answers', { isSilent: true }],
  ['422 INSUFFICIENT_BALANCE', 'a wallet that holds too little', { balance: 9n }],
  ['422 INSUFFICIENT_BALANCE', 'a frozen account', { isFrozen: true }],
  ['422 INSUFFICIENT_BALANCE', 'a rest below the rent', { balance: 12n }],
])('%s answers %s', async (answer, _, asked) => {
  const code = answer.split(' ')[1]

  await expect(build(newQuote(), asked)).rejects.toMatchObject({ code })
})

test.each<[string, Asked]>([
  ['all of its balance', { balance: 10n }],
  ['all but the rent', { balance: 13n }],
  ['a part before the quote expires', { balance: 100n, now: 999 }],
])('a wallet can swap %s', async (_, asked) => {
  expect((await build(newQuote(), asked)).reply.geoOpToken).toBe('sealed')
})

test('two builds of a quote at once return one op, and one of them is the first', async () => {
  const quote = newQuote()
  const waiting = `select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
  const other = await database.pool.connect()
  await other.query('begin')
  await other.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [accountId])
  const builds = Promise.all([build(quote), build(quote)])
  await vi.waitFor(async () => expect((await database.pool.query(waiting)).rows).toHaveLength(1), 5_000)
  await other.query('commit')
  other.release()

  const [first, second] = await builds

  expect(first.sealed[0]?.opId).toBe(second.sealed[0]?.opId)
  const areFirst = [...first.inputs, ...second.inputs].map(({ heads }) => heads !== undefined)
  expect(areFirst.sort()).toEqual([false, true])
})

test('a balance that is too low, or a rest below the rent, is told with the amounts that work', async () => {
  await expect(build(newQuote(), { balance: 9n })).rejects.toThrow(
    'holds 9 TEST on solana and the swap takes 10 TEST',
  )
  await expect(build(newQuote(), { balance: 12n })).rejects.toMatchObject({
    message:
      'The swap would leave 2 TEST in the wallet, and the chain keeps no account with less than 3 TEST. ' +
      'Swap all of 12 TEST, or leave at least 3 TEST.',
    recovery: { required: '10', balance: '12', minimumLeft: '3' },
  })
})

test('a submitted quote is built again although its own swap has emptied the wallet', async () => {
  const quote = newQuote()
  const { sealed } = await build(quote)
  await expect(build(quote, { balance: 0n })).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' })
  const opId = sealed[0]?.opId ?? ''
  await insertSwap(database.pool, { swapId: `swp_${quote.id}`, opId, signature: 'tx' })

  expect((await build(quote, { balance: 0n })).sealed[0]?.opId).toBe(opId)
})
