import { type Hex, hashTypedData } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { createWorld, prepare, quoteOnceSettled, toRequest } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)
const operator = createOperator(inject('databaseUrl'))
const order = { from: alpha, sell: 'ETH', to: beta, buy: 'ETH', amount: 10n ** 17n }

let api: CheckedClient
let stranger: CheckedClient
let wallet: PrivateKeyAccount
let quoteToken: string
let opToken: string
let signature: Hex
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
  stranger = createCheckedClient({ ...local, apiKey: await operator.createKey() })
  wallet = await delegatedWallet(alpha)
  const { quote, build, submission } = await prepare({ api }, wallet, order)
  quoteToken = quote.geoQuoteToken
  opToken = build.geoOpToken
  signature = submission.signature
})

/** Every call that takes a sealed token, with a valid rest of its body. */
const consumers = {
  'build-geo-op': (token: string) => ({ geoQuoteToken: token }),
  'build-solana-tx': (token: string) => ({ geoQuoteToken: token }),
  submit: (token: string) => ({ geoOpToken: token, signature }),
  'submit-solana': (token: string) => ({ geoOpToken: token, signedTransaction: 'AQID' }),
}
type Path = keyof typeof consumers
const paths = Object.keys(consumers) as Path[]

const consume = (client: CheckedClient, path: Path, token: string) =>
  client.call<object>('POST', `/swap/${path}`, consumers[path](token))

async function expectInvalid(path: Path, tokens: string[], client = api): Promise<void> {
  const replies = await Promise.all(tokens.map((token) => consume(client, path, token)))
  expect(replies.map(refusalOf)).toEqual(tokens.map(() => '401 INVALID_TOKEN'))
}

const genuine = (path: Path) => (path.startsWith('build') ? quoteToken : opToken)

function withBitFlipped(token: string, bit: number): string {
  const bytes = Buffer.from(token, 'base64url')
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return bytes.toString('base64url')
}

test('both tokens are opaque text of less than 2 KiB', () => {
  for (const token of [quoteToken, opToken]) {
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(token.length).toBeLessThan(2_048)
  }
})

describe('401 INVALID_TOKEN', () => {
  test.each(paths)('for a token with a bit flipped, wherever it is, at %s', async (path) => {
    const token = genuine(path)
    const size = Buffer.from(token, 'base64url').length
    // The seal's own test flips every bit; here, one of every eight bytes shows that each call opens the seal.
    const sample = Array.from({ length: Math.floor(size / 8) }, (_, index) => 64 * index + (index % 8))

    await expectInvalid(
      path,
      sample.map((bit) => withBitFlipped(token, bit)),
    )
  })

  test.each(paths)('for a token that was cut, extended or decorated, at %s', async (path) => {
    const token = genuine(path)
    const cut = [1, 2, 16, 40, token.length - 1].map((length) => token.slice(0, length))
    const dressed = [`${token}A`, `${token}=`, ` ${token}`, `${token}\n`, token.repeat(2), `${token}.`]
    const foreign = ['x', '\u0000', '🦊', 'A'.repeat(60_000), 'eyJhbGciOiJub25lIn0.e30.']

    await expectInvalid(path, [...cut, ...dressed, ...foreign])
  })

  test('for a token of the other kind', async () => {
    await expectInvalid('build-geo-op', [opToken])
    await expectInvalid('build-solana-tx', [opToken])
    await expectInvalid('submit', [quoteToken])
    await expectInvalid('submit-solana', [quoteToken])
  })

  test('for an EVM token at the Solana calls', async () => {
    await expectInvalid('build-solana-tx', [quoteToken])
    await expectInvalid('submit-solana', [opToken])
  })

  test.each(paths)('for the token of another account, at %s', async (path) => {
    await expectInvalid(path, [genuine(path)], stranger)
  })

  test('for a token of another deployment', async () => {
    const sealedElsewhere = Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(200, 7)])

    for (const path of paths) await expectInvalid(path, [sealedElsewhere.toString('base64url')])
  })

  test('a second key of the same account may use the token', async () => {
    const [row] = await operator.query<{ account_id: string }>(
      'select account_id from api_keys where id = $1',
      [api.apiKey.split('_')[2]],
    )
    const colleague = createCheckedClient({
      ...local,
      apiKey: await operator.createKey({}, row?.account_id),
    })

    expect(refusalOf(await consume(colleague, 'build-geo-op', quoteToken))).toBe('200 OK')
  })
})

describe('a built operation', () => {
  test('has the same hash, operation and expiry when it is built again', async () => {
    const { geoQuoteToken } = await quoteOnceSettled(api, toRequest(wallet, order))
    const request = { geoQuoteToken }

    const builds = await Promise.all(Array.from({ length: 5 }, () => api.build(request)))

    const facts = builds.map(({ body }) => [body.geoOpHash, body.operation, body.expiresAt])
    expect(facts).toEqual(facts.map(() => facts[0]))
    expect(facts[0]?.[0]).toMatch(/^0x[0-9a-f]{64}$/)
  })

  test('has geoOpHash as the EIP-712 hash of its operation', async () => {
    const { build, quote } = await prepare({ api }, wallet, { ...order, slippageBps: 100 })
    const { domain, types, primaryType, message } = build.operation

    expect(hashTypedData({ domain, types, primaryType, message } as never)).toBe(build.geoOpHash)
    expect(message).toMatchObject({
      wallet: wallet.address,
      inputToken: alpha.token('ETH'),
      inputAmount: quote.input,
      delivery: { minOutput: quote.minOutput, destinationChain: String(beta.chainId) },
    })
  })

  test('is valid for 120 seconds, its quote for 30', async () => {
    const quotedAt = Date.now()
    const { quote, build } = await prepare({ api }, wallet, order)
    const builtAt = Date.now()

    const quoteLife = new Date(quote.expiresAt).getTime()
    expect(quoteLife).toBeGreaterThanOrEqual(quotedAt + 30_000)
    expect(quoteLife).toBeLessThanOrEqual(builtAt + 30_000)
    const opLife = new Date(build.expiresAt).getTime()
    expect(opLife).toBeGreaterThanOrEqual(quotedAt + 120_000)
    expect(opLife).toBeLessThanOrEqual(builtAt + 120_000)
    expect(quote.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(build.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })
})
