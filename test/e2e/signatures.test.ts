import { type Hex, parseSignature, serializeCompactSignature, signatureToCompactSignature } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { createWorld, prepare, quoteOnceSettled, toRequest } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)
const operator = createOperator(inject('databaseUrl'))
const order = { from: alpha, sell: 'ETH', to: beta, buy: 'ETH', amount: 10n ** 17n }
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let api: CheckedClient
let wallet: PrivateKeyAccount
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
  wallet = await delegatedWallet(alpha, 10n ** 20n)
})

const withV = (signature: Hex, v: string) => `${signature.slice(0, -2)}${v}`
const parityOf = (signature: Hex) => parseSignature(signature).yParity
const compact = (signature: Hex) =>
  serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))

function highS(signature: Hex): string {
  const { r, s, yParity } = parseSignature(signature)
  const other = (GROUP_ORDER - BigInt(s)).toString(16).padStart(64, '0')
  return `${r}${other}${yParity === 0 ? '1c' : '1b'}`
}

/** All encodings of one valid signature. */
const forms: Record<string, (signature: Hex) => string> = {
  '65 bytes with v 27 or 28': (signature) => signature,
  '65 bytes with v 0 or 1': (signature) => withV(signature, parityOf(signature) === 0 ? '00' : '01'),
  'the 64 bytes of EIP-2098': compact,
  'upper case': (signature) => `0x${signature.slice(2).toUpperCase()}`,
}

type Signing = { signature: Hex; hash: Hex }
const wrong: Record<string, (signing: Signing) => string | Promise<string>> = {
  nothing: () => '',
  '0 bytes': () => '0x',
  '63 bytes': ({ signature }) => compact(signature).slice(0, -2),
  '64 bytes cut from 65': ({ signature }) => withHighBit(signature),
  '66 bytes': ({ signature }) => `${signature}00`,
  'no 0x': ({ signature }) => signature.slice(2),
  'no hex': ({ signature }) => `0xzz${signature.slice(4)}`,
  spaces: ({ signature }) => ` ${signature}`,
  'v 29': ({ signature }) => withV(signature, '1d'),
  'v 2': ({ signature }) => withV(signature, '02'),
  'v 26': ({ signature }) => withV(signature, '1a'),
  'the other parity': ({ signature }) => withV(signature, parityOf(signature) === 0 ? '1c' : '1b'),
  'a high s': ({ signature }) => highS(signature),
  zeros: () => `0x${'00'.repeat(64)}1b`,
  'all ones': () => `0x${'ff'.repeat(65)}`,
  "another wallet's": ({ hash }) =>
    privateKeyToAccount(generatePrivateKey()).signMessage({ message: { raw: hash } }),
  'the text of the hash signed': ({ hash }) => wallet.signMessage({ message: hash }),
}

/** A 64-byte signature with a wrong parity bit. */
function withHighBit(signature: Hex): string {
  const form = compact(signature)
  const first = (Number.parseInt(form.slice(66, 68), 16) ^ 0x80).toString(16).padStart(2, '0')
  return `${form.slice(0, 66)}${first}${form.slice(68)}`
}

async function signing() {
  const { build, submission } = await prepare({ api }, wallet, order)
  return { hash: build.geoOpHash as Hex, ...submission }
}

test.each(Object.entries(forms))('%s is a valid signature', async (_name, toForm) => {
  const { geoOpToken, signature } = await signing()

  const reply = await api.submit({ geoOpToken, signature: toForm(signature) })

  expect(refusalOf(reply)).toBe('200 OK')
  expect(reply.body.swapId).toMatch(/^swp_[0-9a-f]{32}$/)
  expect(reply.body.status).toBe('pending')
})

describe('422 INVALID_SIGNATURE', () => {
  test('for everything that the wallet did not sign, and nothing is stored', async () => {
    const { geoOpToken, signature, hash } = await signing()

    for (const [name, toWrong] of Object.entries(wrong)) {
      const reply = await api.submit({ geoOpToken, signature: await toWrong({ signature, hash }) })
      expect(`${name}: ${refusalOf(reply)}`).toBe(`${name}: 422 INVALID_SIGNATURE`)
    }

    const rows = await operator.query(
      'select 1 from swaps s join ops o on o.id = s.op_id where o.hash = $1',
      [hash],
    )
    expect(rows).toEqual([])
  })

  test('for the same signatures also when the swap exists', async () => {
    const { geoOpToken, signature, hash } = await signing()
    await api.submit({ geoOpToken, signature })

    for (const [name, toWrong] of Object.entries(wrong)) {
      const reply = await api.submit({ geoOpToken, signature: await toWrong({ signature, hash }) })
      expect(`${name}: ${refusalOf(reply)}`).toBe(`${name}: 422 INVALID_SIGNATURE`)
    }
  })

  test('for the signature of another operation of the same wallet', async () => {
    const [first, second] = [await signing(), await signing()]

    const reply = await api.submit({ geoOpToken: first.geoOpToken, signature: second.signature })

    expect(refusalOf(reply)).toBe('422 INVALID_SIGNATURE')
  })

  test.each([7, null, ['0x'], { r: '0x' }])('400 INVALID_REQUEST for %o', async (signature) => {
    const { geoOpToken } = await signing()

    expect(refusalOf(await api.submit({ geoOpToken, signature }))).toBe('400 INVALID_REQUEST')
  })
})

describe('one quote is at most one swap', () => {
  test('every form of the signature, submitted at once or later, returns the same swap', async () => {
    const { geoOpToken, signature } = await signing()
    const submitAll = () =>
      Promise.all(
        Object.values(forms).map((toForm) => api.submit({ geoOpToken, signature: toForm(signature) })),
      )

    const replies = [...(await submitAll()), ...(await submitAll())]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '200 OK'))
    expect(new Set(replies.map(({ body }) => body.swapId)).size).toBe(1)
  })

  test("a rebuilt operation returns the first one's swap", async () => {
    const { geoQuoteToken } = await quoteOnceSettled(api, toRequest(wallet, order))
    const request = { geoQuoteToken }
    const [first, second] = [await api.build(request), await api.build(request)]
    const signature = await wallet.signMessage({ message: { raw: first.body.geoOpHash as Hex } })

    const swap = await api.submit({ geoOpToken: first.body.geoOpToken, signature })
    const again = await api.submit({ geoOpToken: second.body.geoOpToken, signature })
    const third = await api.build(request)

    expect(again.body.swapId).toBe(swap.body.swapId)
    expect(third.body.geoOpHash).toBe(first.body.geoOpHash)
    const resubmitted = await api.submit({ geoOpToken: third.body.geoOpToken, signature })
    expect(resubmitted.body.swapId).toBe(swap.body.swapId)
  })

  test('a new quote starts a new swap', async () => {
    const [first, second] = [await signing(), await signing()]

    const replies = [
      await api.submit({ geoOpToken: first.geoOpToken, signature: first.signature }),
      await api.submit({ geoOpToken: second.geoOpToken, signature: second.signature }),
    ]

    expect(new Set(replies.map(({ body }) => body.swapId)).size).toBe(2)
  })
})
