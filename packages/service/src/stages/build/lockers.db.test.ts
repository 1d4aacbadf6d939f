import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Delegation } from '../../chains/chain.ts'
import { defaultGasBudgets } from '../../swap/budgets.ts'
import { type Quote, unquotedTerms } from '../../swap/quote.ts'
import { type BuildDeps, buildGeoOp } from './build-evm.ts'

const CHAIN = 31_337
const addressOf = (digit: number): `0x${string}` => `0x${String(digit).repeat(40)}`
const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const WALLET = owner.address
const [TOKEN, RELAYER, AUTHORIZER] = [addressOf(2), addressOf(3), addressOf(4)]
const contracts = { account: addressOf(5), escrow: addressOf(6), vault: addressOf(7) }

const database = useTestDatabase()
let accountId: string
beforeAll(async () => {
  accountId = await insertTestAccount(database.pool)
})

const toSign = { chainId: CHAIN, contractAddress: contracts.account, nonce: 0 }
const { yParity = 0, ...signed } = await owner.signAuthorization(toSign)
const authorization = { ...signed, yParity }
const undelegated: Delegation = { kind: 'none', nonce: 0, pendingNonce: 0 }
const delegated: Delegation = { kind: 'ours', delegate: contracts.account }

const newQuote = (): Quote => ({
  ...unquotedTerms,
  ...{
    id: crypto.randomUUID(),
    originChain: CHAIN,
    destinationChain: CHAIN,
    wallet: WALLET,
    recipient: WALLET,
  },
  ...{ inputToken: TOKEN, outputToken: TOKEN, amountIn: 10n, amountOut: 9n, minOutput: 8n, swappable: 9n },
  ...{ venue: 'inventory', payToken: TOKEN, payAmount: 9n, valueCents: 1n, expiresAt: 1_000 },
})

async function build(
  quote: Quote,
  delegation: Delegation,
  finalitySeconds?: number,
): Promise<string | undefined> {
  const finality = { hardSeconds: 4, reorgWindowSeconds: 4 }
  const token = { chainId: CHAIN, address: TOKEN, symbol: 'TEST', decimals: 0, asset: 'TEST' }
  const chain = { family: 'evm', chainId: CHAIN, name: 'alpha', finality, blockSeconds: 1, tokens: [token] }
  const now = { seconds: 100, block: 1n, height: 1n, finalitySeconds }
  const deps = {
    fees: { accounts: [] },
    pool: database.pool,
    catalog: { chains: new Map([[CHAIN, chain]]), assets: new Map() },
    maxUnsubmitted: 100,
    maxUnsubmittedCents: 10n ** 9n,
    gasBudgets: defaultGasBudgets,
    market: { chainNow: () => now, canSend: () => true },
    custodyOf: () => contracts,
    deadlines: {
      opLifeSeconds: 120,
      depositSeconds: 900,
      lockInclusionSeconds: 60,
      fillSeconds: 600,
      cutOffSeconds: 60,
      attemptLifeSeconds: 90,
      detectionSeconds: 60,
      claimInclusionSeconds: 300,
    },
    lockersOf: (_: number, { hasDelegation }: { hasDelegation: boolean }) => [
      hasDelegation ? AUTHORIZER : RELAYER,
    ],
    isForDelegations: (_: number, locker: string) => locker === AUTHORIZER,
    originOf: () => ({ readWallet: async () => ({ delegation, balance: 10n, block: 1n }) }),
    contractsOf: () => contracts,
    openQuote: () => quote,
    sealOp: () => 'token',
    rememberDelegated: () => {},
    now: () => 0,
  }
  const request = { geoQuoteToken: 'token', ...(delegation.kind === 'none' && { authorization }) }
  await buildGeoOp(stub<BuildDeps>(deps), accountId, request)
  const { rows } = await database.pool.query<{ locker: string }>(
    'select locker from ops where quote_id = $1',
    [quote.id],
  )
  return rows[0]?.locker
}

test('an op with a delegation names a locker that sends nothing else', async () => {
  expect(await build(newQuote(), undelegated)).toBe(AUTHORIZER)
  expect(await build(newQuote(), delegated)).toBe(RELAYER)
})

test('a wallet delegated since the first build of a quote keeps the locker of that build', async () => {
  const quote = newQuote()
  await build(quote, undelegated)

  expect(await build(quote, delegated)).toBe(AUTHORIZER)
})

test('410 QUOTE_EXPIRED for a wallet that removed its delegation since the first build of a quote', async () => {
  const quote = newQuote()
  await build(quote, delegated)

  await expect(build(quote, undelegated)).rejects.toMatchObject({ code: 'QUOTE_EXPIRED' })
})

test('the deadlines of an op leave time for the measured finality', async () => {
  const fillSecondsOf = async (finalitySeconds?: number) => {
    const quote = newQuote()
    await build(quote, delegated, finalitySeconds)
    const { rows } = await database.pool.query<{ seconds: string }>(
      'select fill_deadline - op_deadline as seconds from ops where quote_id = $1',
      [quote.id],
    )
    return Number(rows[0]?.seconds)
  }

  expect(await fillSecondsOf()).toBe(600 + 4)
  expect(await fillSecondsOf(3)).toBe(600 + 4)
  expect(await fillSecondsOf(8)).toBe(600 + 8)
})

test('503 CHAIN_UNAVAILABLE while finality takes more than three times as long as configured', async () => {
  await expect(build(newQuote(), delegated, 13)).rejects.toMatchObject({
    code: 'CHAIN_UNAVAILABLE',
    message: 'Finality of alpha takes 9 seconds longer than usual, and swaps wait for it. Try again later.',
  })
})
