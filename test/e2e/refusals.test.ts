import fc from 'fast-check'
import { getAddress, zeroAddress } from 'viem'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf, refusedFields } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createWorld, quoteOnceSettled, toRequest } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const wallet = { address: getAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79c8') }
const base = toRequest(wallet, { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10_000_000n })
const UNKNOWN_TOKEN = getAddress('0x00000000000000000000000000000000000000aa')
const PRECOMPILE = getAddress('0x0000000000000000000000000000000000000001')

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  await quoteOnceSettled(api, base)
})

const json = () => ({ 'x-api-key': api.apiKey, 'content-type': 'application/json' })
const postQuote = (body: string, headers: Record<string, string> = json()) =>
  api.send({ method: 'POST', path: '/swap/quote', body, headers })

describe('400 INVALID_REQUEST names the field', () => {
  const amounts = ['0', '-1', '+1', '1e18', '1.5', '', ' 1', '1 ', '1\n', '01', '00', '0x10', '1_000', '１']
  const wrong: Record<string, unknown[]> = {
    amount: [...amounts, (2n ** 256n).toString(), '9'.repeat(79), 10, null, true, ['1'], { value: '1' }],
    originChain: ['31337', 31337.5, 0, -1, 2 ** 53, null],
    destinationChain: ['31338', 1e20, [31338]],
    inputToken: ['', 'USDC', '0x12', 7, `${base.inputToken}00`, '11111111111111111111111111111111'],
    outputToken: ['', 'x'.repeat(65), `0x${'g'.repeat(40)}`],
    walletAddress: [
      '',
      'vitalik.eth',
      zeroAddress,
      PRECOMPILE,
      base.inputToken,
      ...Object.values(alpha.contracts),
    ],
    recipient: ['', null, zeroAddress, PRECOMPILE, base.outputToken, ...Object.values(beta.contracts)],
    slippageBps: [0, 5001, -1, 1.5, '50', null],
    tradeType: ['exact', 'EXACTINPUT', 1, null],
  }
  const cases = Object.entries(wrong).flatMap(([field, values]) => values.map((value) => ({ field, value })))

  test.each(cases)('$field $value', async ({ field, value }) => {
    const reply = await api.quote({ ...base, [field]: value })

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toContain(field)
  })

  test.each(Object.keys(base))('%s left out', async (field) => {
    const reply = await api.quote({ ...base, [field]: undefined })

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual([field])
  })

  test('every wrong field at once, and an unknown one', async () => {
    const reply = await api.quote({ ...base, amount: '-1', slippage: 50, tradeType: 'x' })

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply).sort()).toEqual(['amount', 'slippage', 'tradeType'])
  })

  test('a recipient of another family', async () => {
    const recipient = 'So11111111111111111111111111111111111111112'

    const reply = await api.quote({ ...base, recipient })

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual(['recipient'])
  })
})

describe('addresses', () => {
  const lower = wallet.address.toLowerCase()
  const upper = `0x${lower.slice(2).toUpperCase()}`

  test.each([lower, upper])('%s is accepted and answered checksummed', async (walletAddress) => {
    const inputToken = base.inputToken.toLowerCase()

    expect(refusalOf(await api.quote({ ...base, walletAddress, inputToken }))).toBe('200 OK')
    const { body } = await api.delegation(alpha.chainId, walletAddress)
    expect(body.walletAddress).toBe(wallet.address)
    expect(body.delegationTarget).toBe(alpha.contracts.account)
  })

  test('400 INVALID_REQUEST for mixed case with a wrong checksum, in every field', async () => {
    const wrong = wallet.address.replace(/[a-f]/, (letter) => letter.toUpperCase())
    const broken = (address: string) => address.replace(/[a-fA-F](?!.*[a-fA-F])/, flipCase)

    const replies = [
      await api.quote({ ...base, walletAddress: wrong }),
      await api.quote({ ...base, recipient: wrong }),
      await api.quote({ ...base, inputToken: broken(base.inputToken) }),
      await api.quote({ ...base, outputToken: broken(base.outputToken) }),
      await api.delegation(alpha.chainId, wrong),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '400 INVALID_REQUEST'))
    const fields = ['walletAddress', 'recipient', 'inputToken', 'outputToken', 'walletAddress']
    expect(replies.flatMap(refusedFields)).toEqual(fields)
  })
})

const flipCase = (letter: string) =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()

describe('422', () => {
  test.each(['originChain', 'destinationChain'])(
    '422 UNSUPPORTED_CHAIN names the chains, as %s',
    async (field) => {
      const reply = await api.quote({ ...base, [field]: 424_242 })

      expect(refusalOf(reply)).toBe('422 UNSUPPORTED_CHAIN')
      expect(reply.body.details).toMatchObject({
        field,
        supported: expect.arrayContaining([alpha.chainId, beta.chainId]),
      })
    },
  )

  test.each(['inputToken', 'outputToken'])('422 UNSUPPORTED_TOKEN names the tokens, as %s', async (field) => {
    const reply = await api.quote({ ...base, [field]: UNKNOWN_TOKEN })

    expect(refusalOf(reply)).toBe('422 UNSUPPORTED_TOKEN')
    expect(reply.body.details).toMatchObject({ token: UNKNOWN_TOKEN, supported: expect.any(Array) })
  })

  test('422 NO_ROUTE for the same token on the same chain', async () => {
    const { originChain, inputToken } = base

    const reply = await api.quote({ ...base, destinationChain: originChain, outputToken: inputToken })

    expect(refusalOf(reply)).toBe('422 NO_ROUTE')
  })

  test('422 UNSUPPORTED_CHAIN for the delegation of an unsupported chain', async () => {
    expect(refusalOf(await api.delegation(424_242, wallet.address))).toBe('422 UNSUPPORTED_CHAIN')
  })
})

describe('bodies', () => {
  const rest = JSON.stringify(base).slice(1)
  const malformed = {
    ...{ nothing: '', 'half an object': '{', null: 'null', 'a number': '1', text: '"x"', 'a NUL': '\u0000' },
    ...{
      'an empty list': '[]',
      'a list': '[{}]',
      'two objects': '{}{}',
      'deep nesting': '[['.repeat(30_000),
    },
    'a __proto__ key': `{"__proto__":{"amount":"1"},${rest}`,
    'constructor.prototype': `{"constructor":{"prototype":{"x":1}},${rest}`,
  }

  test.each(Object.entries(malformed))('400 INVALID_REQUEST for %s', async (_name, body) => {
    expect(refusalOf(await postQuote(body))).toBe('400 INVALID_REQUEST')
  })

  test.each([65_537, 1_000_000])('413 BODY_TOO_LARGE for %i bytes', async (length) => {
    expect(refusalOf(await postQuote(' '.repeat(length)))).toBe('413 BODY_TOO_LARGE')
  })

  test('413 BODY_TOO_LARGE for a body without a content length', async () => {
    const piece = new TextEncoder().encode(' '.repeat(10_000))
    const body = ReadableStream.from(Array.from({ length: 10 }, () => piece))
    const init = { method: 'POST', headers: json(), body, duplex: 'half' } as RequestInit

    const response = await fetch(`${local.apiUrl}/swap/quote`, init)

    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ code: 'BODY_TOO_LARGE' })
  })

  test('64 KiB are not too large', async () => {
    const body = JSON.stringify(base).padEnd(65_536)

    expect(refusalOf(await postQuote(body))).toBe('200 OK')
  })

  const otherTypes = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']
  test.each(otherTypes)('415 UNSUPPORTED_MEDIA_TYPE for "%s"', async (type) => {
    const reply = await postQuote(JSON.stringify(base), { ...json(), 'content-type': type })

    expect(refusalOf(reply)).toBe('415 UNSUPPORTED_MEDIA_TYPE')
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON'])('%s is JSON', async (type) => {
    const reply = await postQuote(JSON.stringify(base), { ...json(), 'content-type': type })

    expect(refusalOf(reply)).toBe('200 OK')
  })

  test('any JSON is answered with a refusal and never a 5xx', async () => {
    const paths = ['quote', 'build-geo-op', 'build-solana-tx', 'submit', 'submit-solana']
    const field = fc.constantFrom(
      'geoQuoteToken',
      'geoOpToken',
      'signature',
      'authorization',
      ...Object.keys(base),
    )
    const body = fc.oneof(
      fc.json(),
      fc.dictionary(field, fc.jsonValue()).map((value) => JSON.stringify(value)),
    )

    const property = fc.asyncProperty(fc.constantFrom(...paths), body, async (path, text) => {
      const reply = await api.send({ method: 'POST', path: `/swap/${path}`, body: text, headers: json() })
      expect([400, 401, 422]).toContain(reply.status)
    })
    await fc.assert(property, { numRuns: 200 })
  })
})

describe('order of checks', () => {
  const strangers: [string, Record<string, string>][] = [
    ['401 MISSING_API_KEY', {}],
    ['401 INVALID_API_KEY', { 'x-api-key': 'gsk_live_nobody' }],
  ]

  test.each(strangers)('%s before everything else', async (refusal, headers) => {
    const replies = [
      await postQuote('{', { ...headers, 'content-type': 'application/json' }),
      await postQuote(' '.repeat(100_000), { ...headers, 'content-type': 'text/plain' }),
      await api.send({ method: 'GET', path: '/swap/status/swp_1?wait=99', headers }),
      await api.send({ method: 'GET', path: '/swap/quote', headers }),
      await api.send({ method: 'DELETE', path: '/swap/anything', headers }),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => refusal))
  })

  test('415 before 413, 413 before 400, 400 before 401 INVALID_TOKEN', async () => {
    const large = 'x'.repeat(70_000)

    expect(refusalOf(await postQuote(large, { ...json(), 'content-type': 'text/html' }))).toMatch(/^415/)
    expect(refusalOf(await postQuote(large))).toMatch(/^413/)
    expect(refusalOf(await api.build({ geoQuoteToken: 'x', more: 1 }))).toMatch(/^400/)
    expect(refusalOf(await api.build({ geoQuoteToken: 'x', authorization: {} }))).toMatch(/^400/)
  })

  test('401 INVALID_TOKEN before checks of the signature or transaction', async () => {
    const replies = [
      await api.submit({ geoOpToken: 'x', signature: 'not hex' }),
      await api.call('POST', '/swap/submit-solana', { geoOpToken: 'x', signedTransaction: '???' }),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '401 INVALID_TOKEN'))
  })

  test.each(['build-geo-op', 'build-solana-tx', 'submit', 'submit-solana'])(
    '400 INVALID_REQUEST for an empty token at %s',
    async (path) => {
      const rest = { submit: { signature: '0x' }, 'submit-solana': { signedTransaction: '' } }[path]
      const name = path.startsWith('build') ? 'geoQuoteToken' : 'geoOpToken'

      const reply = await api.call<object>('POST', `/swap/${path}`, { [name]: '', ...rest })

      expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
      expect(refusedFields(reply)).toEqual([name])
    },
  )
})
