import { AccountRole, type Address, generateKeyPairSigner, getAddressEncoder } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf, refusedFields } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { accountOf, freeze, openAccount, operationOf } from '../solana-orders.ts'
import {
  createSolanaWorld,
  type MintOptions,
  type SolanaWorld,
  TOKEN_2022_PROGRAM_ADDRESS,
} from '../solana-world.ts'
import { createWorld, quoteOnceSettled, toRequest, until } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)

const USDC = 1_000_000n
const SOL = 10n ** 9n
const EVM_ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

let api: CheckedClient
let solana: SolanaWorld
let wallet: Address
/** The address of a program: it has no key. */
let offCurve: Address
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  solana = await createSolanaWorld(local)
  wallet = (await generateKeyPairSigner()).address
  offCurve = await accountOf(solana, wallet, 'USDC')
})

const outOf = (changes: object = {}) => ({
  ...toRequest(
    { address: wallet },
    { from: solana, sell: 'USDC', to: alpha, buy: 'USDC', amount: 10n * USDC },
  ),
  recipient: EVM_ADDRESS,
  ...changes,
})
const into = (changes: object = {}) => ({
  ...toRequest(
    { address: EVM_ADDRESS },
    { from: alpha, sell: 'USDC', to: solana, buy: 'USDC', amount: 10n * USDC },
  ),
  recipient: wallet,
  ...changes,
})

async function expectRefused(request: object, field: string): Promise<void> {
  const reply = await api.quote(request)

  expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
  expect(refusedFields(reply)).toEqual([field])
}

describe('400 INVALID_REQUEST names the field', () => {
  test('an EVM address where a Solana one belongs', async () => {
    await expectRefused(into({ recipient: EVM_ADDRESS }), 'recipient')
    await expectRefused(outOf({ walletAddress: EVM_ADDRESS }), 'walletAddress')
    await expectRefused(outOf({ inputToken: alpha.token('USDC') }), 'inputToken')
  })

  test('a Solana address where an EVM one belongs', async () => {
    await expectRefused(outOf({ recipient: wallet }), 'recipient')
    await expectRefused(into({ walletAddress: wallet }), 'walletAddress')
    await expectRefused(outOf({ outputToken: solana.token('USDC') }), 'outputToken')
  })

  test.each(['', '1', 'O'.repeat(44), '1'.repeat(31), '1'.repeat(33), 'z'.repeat(44)])(
    'the recipient "%s", which is not 32 bytes of base58',
    async (recipient) => {
      await expectRefused(into({ recipient }), 'recipient')
    },
  )

  test('a wallet without a key', async () => {
    await expectRefused(outOf({ walletAddress: offCurve }), 'walletAddress')
  })

  test('an amount beyond 64 bits of a token with 64-bit amounts', async () => {
    const amount = String(2n ** 64n)

    await expectRefused(outOf({ amount }), 'amount')
    await expectRefused(into({ amount, tradeType: 'exactOutput' }), 'amount')
    expect(refusalOf(await api.quote(outOf({ amount: String(2n ** 64n - 1n) })))).toMatch(/^422/)
  })

  const targets: Record<string, () => string> = {
    'the mint itself': () => solana.token('USDC'),
    'another mint': () => solana.token('GEO'),
    'the native token': () => solana.token('SOL'),
    'a program': () => TOKEN_PROGRAM_ADDRESS,
    'the vault': () => solana.vault,
  }
  test.each(Object.entries(targets))('%s as recipient', async (_name, target) => {
    await expectRefused(into({ recipient: target() }), 'recipient')
    await expectRefused(into({ recipient: target(), outputToken: solana.token('SOL') }), 'recipient')
  })

  test('a fee payer as recipient or wallet', async () => {
    const { address: owner } = await solana.wallet({ USDC: 10n * USDC })
    const { geoQuoteToken } = await quoteOnceSettled(api, outOf({ walletAddress: owner }))
    const { feePayer } = operationOf((await api.buildSolana({ geoQuoteToken })).body)

    await expectRefused(into({ recipient: feePayer }), 'recipient')
    await expectRefused(outOf({ walletAddress: feePayer }), 'walletAddress')
  })

  test('a token account as recipient', async () => {
    const { address: owner } = await solana.wallet({ USDC })

    const recipient = await accountOf(solana, owner, 'USDC')

    await expectRefused(into({ recipient }), 'recipient')
    await expectRefused(into({ recipient, outputToken: solana.token('SOL') }), 'recipient')
  })

  test('a recipient whose token account is frozen, and only for that token', async () => {
    const { address: recipient } = await solana.wallet({ USDC, GEO: SOL })
    await quoteOnceSettled(api, into({ recipient }))

    await freeze(solana, await accountOf(solana, recipient, 'USDC'))
    await until(async () => (await api.quote(into({ recipient }))).status !== 200)

    await expectRefused(into({ recipient }), 'recipient')
    expect(refusalOf(await api.quote(into({ recipient, outputToken: solana.token('GEO') })))).toBe('200 OK')
  })

  test('a recipient without a key, until it has a token account', async () => {
    const recipient = await accountOf(solana, wallet, 'GEO')
    await expectRefused(into({ recipient }), 'recipient')

    await openAccount(solana, recipient, 'USDC')

    expect(refusalOf(await api.quote(into({ recipient })))).toBe('200 OK')
    await expectRefused(into({ recipient, outputToken: solana.token('GEO') }), 'recipient')
  })
})

describe('422 UNSUPPORTED_TOKEN for a mint that is not configured', () => {
  const key = () => [...getAddressEncoder().encode(solana.payer.address)]
  const none = Array.from({ length: 32 }, () => 0)
  /** A mint of Token-2022 with an extension of this size, written by an instruction with this data. */
  const extended = (bytes: number, data: readonly number[]): MintOptions => ({
    program: TOKEN_2022_PROGRAM_ADDRESS,
    extension: {
      bytes,
      initialize: (mint) => ({
        programAddress: TOKEN_2022_PROGRAM_ADDRESS,
        accounts: [{ address: mint, role: AccountRole.WRITABLE }],
        data: Uint8Array.from(data),
      }),
    },
  })
  const largestFee = [255, 255, 255, 255, 255, 255, 255, 127]
  const mints: Record<string, () => MintOptions> = {
    'without decimals': () => ({ decimals: 0 }),
    'with nine decimals': () => ({ decimals: 9 }),
    'of the newer program': () => ({ program: TOKEN_2022_PROGRAM_ADDRESS }),
    'with a transfer fee': () => extended(108, [26, 0, 1, ...key(), 1, ...key(), 50, 0, ...largestFee]),
    'with a transfer hook': () => extended(64, [36, 0, ...key(), ...none]),
    'with a permanent delegate': () => extended(32, [35, ...key()]),
    'whose accounts begin frozen': () => extended(1, [28, 0, 2]),
  }

  test.concurrent.each(Object.entries(mints))('%s', async (_name, options) => {
    const mint = await solana.createMint(options())
    const token = mint.address

    const replies = [
      await api.quote(outOf({ inputToken: token })),
      await api.quote(into({ outputToken: token })),
    ]

    expect(replies.map(refusalOf)).toEqual(['422 UNSUPPORTED_TOKEN', '422 UNSUPPORTED_TOKEN'])
    expect(replies[0]?.body.details).toMatchObject({ token, supported: expect.any(Array) })
  })

  test('422 UNSUPPORTED_TOKEN for an address without a mint', async () => {
    expect(refusalOf(await api.quote(outOf({ inputToken: offCurve })))).toBe('422 UNSUPPORTED_TOKEN')
  })
})

test('422 NO_ROUTE for the same token on Solana', async () => {
  const same = { destinationChain: solana.chainId, outputToken: solana.token('USDC'), recipient: wallet }

  expect(refusalOf(await api.quote(outOf(same)))).toBe('422 NO_ROUTE')
})

test('422 NEEDS_LARGER_SIZE for SOL below the rent of a new account, with the sufficient amount', async () => {
  const order = into({ outputToken: solana.token('SOL'), tradeType: 'exactOutput' })
  const rent = await solana.rpc.getMinimumBalanceForRentExemption(0n).send()

  const reply = await api.quote({ ...order, amount: String(rent - 1n) })

  expect(refusalOf(reply)).toBe('422 NEEDS_LARGER_SIZE')
  expect(reply.body.recovery).toMatchObject({ minAmount: String(rent) })
  expect(refusalOf(await api.quote({ ...order, amount: String(rent) }))).toBe('200 OK')
})

describe('422 INSUFFICIENT_BALANCE at the build', () => {
  async function build(changes: object) {
    const { geoQuoteToken } = await quoteOnceSettled(api, outOf(changes))
    return api.buildSolana({ geoQuoteToken })
  }

  test('for a wallet without the token, and one with too little of it', async () => {
    const { address: poor } = await solana.wallet({ USDC: 10n * USDC - 1n })

    const replies = [await build({}), await build({ walletAddress: poor })]

    expect(replies.map(refusalOf)).toEqual(['422 INSUFFICIENT_BALANCE', '422 INSUFFICIENT_BALANCE'])
    expect(replies.map(({ body }) => body.details)).toEqual([
      { required: '10000000', balance: '0' },
      { required: '10000000', balance: '9999999' },
    ])
  })

  test('for a wallet whose token account is frozen', async () => {
    const { address: owner } = await solana.wallet({ USDC: 10n * USDC })
    await freeze(solana, await accountOf(solana, owner, 'USDC'))

    const reply = await until(async () => {
      const answer = await build({ walletAddress: owner })
      return answer.status !== 200 && answer
    })

    expect(refusalOf(reply)).toBe('422 INSUFFICIENT_BALANCE')
    expect(reply.body.message).toContain('frozen')
  })

  test('for SOL that would leave less than the rent minimum, with the numbers', async () => {
    const { address: owner } = await solana.wallet({ SOL })
    const rent = await solana.rpc.getMinimumBalanceForRentExemption(0n).send()
    const order = { walletAddress: owner, inputToken: solana.token('SOL'), destinationChain: beta.chainId }
    const buying = { ...order, outputToken: beta.token('USDC') }

    const reply = await build({ ...buying, amount: String(SOL - rent + 1n) })

    expect(refusalOf(reply)).toBe('422 INSUFFICIENT_BALANCE')
    const numbers = { required: `${SOL - rent + 1n}`, balance: `${SOL}`, minimumLeft: `${rent}` }
    expect(reply.body.details).toEqual(numbers)
    expect(refusalOf(await build({ ...buying, amount: String(SOL - rent) }))).toBe('200 OK')
    expect(refusalOf(await build({ ...buying, amount: String(SOL) }))).toBe('200 OK')
    expect(await solana.balanceOf(owner, solana.token('SOL'))).toBe(SOL)
  })
})
