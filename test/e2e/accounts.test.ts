import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { patience } from '../patience.ts'
import { createWorld, prepare, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const databaseUrl = inject('databaseUrl')
const { alpha, beta, walletWith } = createWorld(local)
const operator = createOperator(databaseUrl)
const order = { from: alpha, sell: 'ETH', to: beta, buy: 'ETH', amount: 10n ** 17n }

let owner: CheckedClient
let stranger: CheckedClient
beforeAll(async () => {
  owner = createCheckedClient({ ...local, apiKey: await operator.createKey() })
  stranger = createCheckedClient({ ...local, apiKey: await operator.createKey() })
})

const clientOf = (apiKey: string) => createCheckedClient({ ...local, apiKey })

describe('404 SWAP_NOT_FOUND', () => {
  const malformed = [
    ...['x', 'swp_', 'swp_1', '..', '%00', '%2e%2e', '%F0%9F%A6%8A', "swp_'%20or%201=1", 'null', '*'],
    ...['a'.repeat(80), 'a'.repeat(5_000), 'swp_%', 'swp_%zz'],
  ]

  test("is the same answer for another account's swap, an unknown id and an invalid id", async () => {
    const { swapId } = await submitSwap({ api: owner }, await delegatedWallet(alpha), order)
    const unknown = `swp_${'0'.repeat(32)}`

    const own = await owner.status(swapId, 0)
    const replies = await Promise.all([swapId, unknown].map((id) => stranger.status(id, 0)))

    expect(own.body.swapId).toBe(swapId)
    const answers = replies.map(({ body }) => ({ ...body, requestId: '' }))
    expect(answers).toEqual(answers.map(() => answers[0]))
    expect(replies.map(refusalOf)).toEqual(replies.map(() => '404 SWAP_NOT_FOUND'))
  })

  test.each(malformed)('for %s', async (id) => {
    // This runtime's client resolves dots in a path before it sends it.
    const reply = await owner.status(id.replaceAll('.', '%2e'), 0)

    expect(refusalOf(reply)).toMatch(/^404 (SWAP_)?NOT_FOUND$/)
  })

  test('is returned at once, without the wait', async () => {
    const startedAt = performance.now()

    await stranger.status(`swp_${'0'.repeat(32)}`)

    expect(performance.now() - startedAt).toBeLessThan(5_000 * patience)
  })
})

describe('API keys', () => {
  const health = (client: CheckedClient) => client.delegation(alpha.chainId, alpha.contracts.escrow)

  test('a key created by command works at once; revoked, it gets 401 INVALID_API_KEY within 5 s', async () => {
    const args = ['run', '-s', 'api-key', '--', 'create', '--name', `by command ${Date.now()}`]
    const env = { ...process.env, DATABASE_URL: databaseUrl }
    const { stdout } = await promisify(execFile)('npm', args, { env })
    const client = clientOf(stdout.trim())
    expect(refusalOf(await health(client))).toBe('200 OK')

    await operator.revoke(client.apiKey)
    const refused = await until(async () => {
      const reply = await health(client)
      return reply.status !== 200 && reply
    }, 5_000)

    expect(refusalOf(refused)).toBe('401 INVALID_API_KEY')
  })

  test('revoking one key of an account does not affect its others', async () => {
    const { apiKey } = owner
    const [row] = await operator.query<{ account_id: string }>(
      'select account_id from api_keys where id = $1',
      [apiKey.split('_')[2]],
    )
    const second = clientOf(await operator.createKey({}, row?.account_id))
    expect(refusalOf(await health(second))).toBe('200 OK')

    await operator.revoke(second.apiKey)
    await until(async () => (await health(second)).status === 401, 5_000)

    expect(refusalOf(await health(owner))).toBe('200 OK')
  })

  test('401 INVALID_API_KEY for anything but a key', async () => {
    const { apiKey } = owner
    const last = apiKey.at(-1) === 'A' ? 'B' : 'A'
    const middle = apiKey.length - 20
    const wrong = [
      ...[
        'x',
        'gsk_live',
        apiKey.slice(0, -1),
        `${apiKey}0`,
        apiKey.toLowerCase(),
        `${apiKey.slice(0, -1)}${last}`,
      ],
      `${apiKey.slice(0, middle)}${apiKey[middle] === 'A' ? 'B' : 'A'}${apiKey.slice(middle + 1)}`,
      'a'.repeat(8_000),
    ]

    const replies = await Promise.all(wrong.map((key) => health(clientOf(key))))

    expect(replies.map(refusalOf)).toEqual(wrong.map(() => '401 INVALID_API_KEY'))
  })

  test('401 MISSING_API_KEY without the header, even if the key is elsewhere in the request', async () => {
    const { apiKey } = owner
    const path = '/swap/status/swp_1'

    const replies = [
      await owner.send({ method: 'GET', path }),
      await owner.send({ method: 'GET', path: `${path}?x-api-key=${apiKey}` }),
      await owner.send({ method: 'GET', path, headers: { authorization: `Bearer ${apiKey}` } }),
      await owner.send({ method: 'GET', path, headers: { 'x-api-key': '' } }),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '401 MISSING_API_KEY'))
  })

  test('the database stores a hash of a key, not the key', async () => {
    const secret = owner.apiKey.split('_')[3]

    const rows = await operator.query<{ row: string }>('select to_json(k)::text as row from api_keys k')

    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter(({ row }) => secret === undefined || row.includes(secret))).toEqual([])
  })
})

describe('limits of a key', () => {
  const USDC = 1_000_000n
  const usdc = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const limited = async (...flags: string[]) => clientOf(await operator.createKeyWith(...flags))
  const owned = { address: privateKeyToAddress(generatePrivateKey()) }
  const quote = (client: CheckedClient, more: object = {}) =>
    client.quote({ ...toRequest(owned, usdc), ...more })

  test('422 KEY_LIMIT_EXCEEDED for a quote above the limit per swap, with the largest amount within it', async () => {
    const client = await limited('--max-swap-usd', '5')

    for (const tradeType of ['exactInput', 'exactOutput']) {
      const amount = tradeType === 'exactInput' ? 10n * USDC : 10n * 10n ** 18n
      const refused = await quote(client, { tradeType, amount: `${amount}` })
      const most = BigInt(String(refused.body.recovery?.['maxAmount']))
      // Network costs change from block to block.
      const [less, more] = [`${most - most / 100n}`, `${most + most / 100n}`]

      expect(refusalOf(refused)).toBe('422 KEY_LIMIT_EXCEEDED')
      expect(refusalOf(await quote(client, { tradeType, amount: less }))).toBe('200 OK')
      expect(refusalOf(await quote(client, { tradeType, amount: more }))).toBe('422 KEY_LIMIT_EXCEEDED')
    }
  })

  test('the limit per day is used up by submitted swaps, at the quote too', async () => {
    const client = await limited('--max-day-usd', '15')
    const wallet = await walletWith(alpha, 'USDC', 20n * USDC)
    const second = await prepare({ api: client }, wallet, usdc)

    await submitSwap({ api: client }, wallet, usdc)

    const refused = await client.submit(second.submission)
    expect(refusalOf(refused)).toBe('422 KEY_LIMIT_EXCEEDED')
    expect(refused.body.details).toMatchObject({ limit: 'day' })
    expect(refusalOf(await quote(client))).toBe('422 KEY_LIMIT_EXCEEDED')
    expect(refusalOf(await quote(client, { amount: `${2n * USDC}` }))).toBe('200 OK')
  })

  test('403 FORBIDDEN for other recipients and tokens than those that the key is for', async () => {
    const token = (side: typeof alpha) => ['--token', `${side.chainId}:${side.token('USDC')}`]
    const client = await limited('--recipient', owned.address, ...token(alpha), ...token(beta))

    expect(refusalOf(await quote(client))).toBe('200 OK')
    expect(refusalOf(await quote(client, { recipient: privateKeyToAddress(generatePrivateKey()) }))).toBe(
      '403 FORBIDDEN',
    )
    expect(refusalOf(await quote(client, { outputToken: beta.token('WETH') }))).toBe('403 FORBIDDEN')
  })
})
