import { type Address, getAddress, type Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf, refusedFields } from '../checked-client.ts'
import { delegatedWallet, delegateTo, instantWallet, setCode } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { authorize, createWorld, outcomeOf, prepare, quoteOnceSettled, toRequest, until } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)
const target = alpha.contracts.account
const order = { from: alpha, sell: 'ETH', to: beta, buy: 'ETH', amount: 10n ** 17n }
const OTHER_PROVIDER = getAddress('0x00000000000000000000000000000000000000bb')
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
})

async function quoteFor(wallet: PrivateKeyAccount): Promise<{ geoQuoteToken: string }> {
  const { geoQuoteToken } = await quoteOnceSettled(api, toRequest(wallet, order))
  return { geoQuoteToken }
}

async function signedBy(
  wallet: PrivateKeyAccount,
  change: { chainId?: number; address?: Address; nonce?: number } = {},
) {
  const { chainId = alpha.chainId, address = target, nonce = 0 } = change
  const { r, s, yParity } = await wallet.signAuthorization({ chainId, contractAddress: address, nonce })
  return { chainId, address, nonce, yParity, r, s }
}

async function buildWith(wallet: PrivateKeyAccount, authorization: object) {
  return api.build({ ...(await quoteFor(wallet)), authorization })
}

/** Uses up a nonce of the wallet: at the next block, or at once if the chain automines. */
async function spendNonce(wallet: PrivateKeyAccount): Promise<void> {
  const maxFeePerGas = 10n ** 10n
  await alpha.client.sendRawTransaction({
    serializedTransaction: await wallet.signTransaction({
      ...{ chainId: alpha.chainId, nonce: 0, gas: 21_000n, to: OTHER_PROVIDER, value: 1n },
      ...{ maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas, type: 'eip1559' },
    }),
  })
}

const nonceOf = (wallet: PrivateKeyAccount) => alpha.client.getTransactionCount({ address: wallet.address })

describe('GET /swap/delegation', () => {
  const read = async (address: string, chainId = alpha.chainId) => {
    const { caip, ...body } = (await api.delegation(chainId, address)).body
    expect(caip).toEqual({ chainId: `eip155:${chainId}`, walletAddress: `eip155:${chainId}:${address}` })
    return body
  }

  test('gives a new wallet the two fields to sign', async () => {
    const { address } = privateKeyToAccount(generatePrivateKey())

    expect(await read(address)).toEqual({
      ...{ chainId: alpha.chainId, walletAddress: address, delegated: false, originReady: false },
      ...{ delegationTarget: target, accountNonce: 0 },
    })
  })

  test('counts the nonce of a wallet that has sent transactions', async () => {
    const { address } = await instantWallet(alpha)
    await alpha.client.setNonce({ address, nonce: 7 })

    expect(await read(address)).toMatchObject({ accountNonce: 7 })
  })

  test('names the delegate of a delegated wallet and nothing to sign, on that chain only', async () => {
    const { address } = await delegatedWallet(alpha)

    expect(await read(address)).toEqual({
      ...{ chainId: alpha.chainId, walletAddress: address, delegated: true, originReady: true },
      delegatedTo: target,
    })
    expect(await read(address, beta.chainId)).toMatchObject({ delegated: false, originReady: false })
  })

  test("gives a wallet on another provider's delegate nothing to sign", async () => {
    const { address } = await instantWallet(alpha)
    await delegateTo(alpha, address, OTHER_PROVIDER)

    expect(await read(address)).toEqual({
      ...{ chainId: alpha.chainId, walletAddress: address, delegated: true, originReady: false },
      delegatedTo: OTHER_PROVIDER,
    })
  })

  test('gives a wallet with ordinary code nothing to sign', async () => {
    const { address } = await instantWallet(alpha)
    await setCode(alpha, address, '0x6000')

    for (const contract of [address, alpha.contracts.escrow, getAddress(alpha.token('USDC'))]) {
      expect(await read(contract)).toEqual({
        ...{ chainId: alpha.chainId, walletAddress: contract, delegated: false, originReady: false },
      })
    }
  })

  const queries: [string, string][] = [
    ['chainId', `chainId=abc&walletAddress=${OTHER_PROVIDER}`],
    ['chainId', `chainId=0&walletAddress=${OTHER_PROVIDER}`],
    ['chainId', `chainId=31337&chainId=31338&walletAddress=${OTHER_PROVIDER}`],
    ['chainId', `walletAddress=${OTHER_PROVIDER}`],
    ['walletAddress', 'chainId=31337'],
    ['walletAddress', 'chainId=31337&walletAddress=0x12'],
    ['more', `chainId=31337&walletAddress=${OTHER_PROVIDER}&more=1`],
  ]
  test.each(queries)('400 INVALID_REQUEST names %s for ?%s', async (field, query) => {
    const reply = await api.call<object>('GET', `/swap/delegation?${query}`)

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual([field])
  })
})

describe('build', () => {
  const fieldsToSign = { chainId: alpha.chainId, delegationTarget: target, accountNonce: 0 }

  test('409 NEEDS_DELEGATION for a new wallet without an authorization, with the fields to sign', async () => {
    const wallet = await instantWallet(alpha)

    const reply = await api.build(await quoteFor(wallet))

    expect(refusalOf(reply)).toBe('409 NEEDS_DELEGATION')
    expect(reply.body.recovery).toMatchObject({ action: 'SIGN_AUTHORIZATION', ...fieldsToSign })
  })

  test('409 NEEDS_DELEGATION comes before 422 INSUFFICIENT_BALANCE', async () => {
    const wallet = await instantWallet(alpha, 1n)

    expect(refusalOf(await api.build(await quoteFor(wallet)))).toBe('409 NEEDS_DELEGATION')
    expect(refusalOf(await buildWith(wallet, await signedBy(wallet)))).toBe('422 INSUFFICIENT_BALANCE')
  })

  test("422 UNSUPPORTED_DELEGATION on another provider's delegate and on ordinary code", async () => {
    const [delegated, contract] = [await instantWallet(alpha), await instantWallet(alpha)]
    await delegateTo(alpha, delegated.address, OTHER_PROVIDER)
    await setCode(alpha, contract.address, '0x6000')

    const replies = [
      await api.build(await quoteFor(delegated)),
      await buildWith(delegated, await signedBy(delegated)),
      await api.build(await quoteFor(contract)),
      await buildWith(contract, await signedBy(contract)),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '422 UNSUPPORTED_DELEGATION'))
  })

  test('409 INVALID_AUTHORIZATION for a genuine signature at another nonce, naming the right one', async () => {
    const wallet = await instantWallet(alpha)

    const reply = await buildWith(wallet, await signedBy(wallet, { nonce: 1 }))

    expect(refusalOf(reply)).toBe('409 INVALID_AUTHORIZATION')
    expect(reply.body.recovery).toEqual({ action: 'SIGN_AUTHORIZATION', ...fieldsToSign })
  })

  test('409 INVALID_AUTHORIZATION while the wallet has a pending transaction of its own', async () => {
    const wallet = await instantWallet(alpha)
    await alpha.halt()
    try {
      await spendNonce(wallet)

      const reply = await buildWith(wallet, await signedBy(wallet))

      expect(refusalOf(reply)).toBe('409 INVALID_AUTHORIZATION')
      expect(reply.body.message).toMatch(/pending/)
    } finally {
      await alpha.resume()
    }
  })

  const changes: Record<string, (wallet: PrivateKeyAccount) => Promise<object>> = {
    'for every chain (chain id 0)': (wallet) => signedBy(wallet, { chainId: 0 }),
    'for another chain': (wallet) => signedBy(wallet, { chainId: beta.chainId }),
    'for another delegate': (wallet) => signedBy(wallet, { address: OTHER_PROVIDER }),
    'signed by someone else': () => signedBy(privateKeyToAccount(generatePrivateKey())),
    'whose nonce was changed after signing': async (wallet) => ({ ...(await signedBy(wallet)), nonce: 1 }),
    'whose chain was changed after signing': async (wallet) => ({
      ...(await signedBy(wallet, { chainId: 0 })),
      chainId: alpha.chainId,
    }),
    'in its high-s form': async (wallet) => {
      const { s, yParity = 0, ...rest } = await signedBy(wallet)
      const highS = (GROUP_ORDER - BigInt(s)).toString(16).padStart(64, '0')
      return { ...rest, s: `0x${highS}`, yParity: 1 - yParity }
    },
    'with the other parity': async (wallet) => {
      const signed = await signedBy(wallet)
      return { ...signed, yParity: 1 - (signed.yParity ?? 0) }
    },
    'with zeros for r and s': async (wallet) => ({ ...(await signedBy(wallet)), r: word('0'), s: word('0') }),
    'with an r outside the curve': async (wallet) => ({ ...(await signedBy(wallet)), r: word('f') }),
  }
  test.each(Object.entries(changes))(
    '422 INVALID_AUTHORIZATION_SIGNATURE for one %s',
    async (_name, sign) => {
      const wallet = await instantWallet(alpha)

      const reply = await buildWith(wallet, await sign(wallet))

      expect(refusalOf(reply)).toBe('422 INVALID_AUTHORIZATION_SIGNATURE')
      expect(reply.body.recovery).toEqual({ action: 'SIGN_AUTHORIZATION', ...fieldsToSign })
    },
  )

  const shapes = [
    { yParity: 2 },
    { yParity: 27 },
    { r: '0x12' },
    { s: 'x' },
    { nonce: '0' },
    { nonce: -1 },
    { v: 27 },
  ]
  test.each(shapes)('400 INVALID_REQUEST for an authorization with %o', async (change) => {
    const wallet = await instantWallet(alpha)

    const reply = await buildWith(wallet, { ...(await signedBy(wallet)), ...change })

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual([`authorization.${Object.keys(change)[0]}`])
  })

  test('a new wallet with its authorization builds, in any case of the address', async () => {
    const wallet = await instantWallet(alpha)
    const authorization = await signedBy(wallet)

    const lower = authorization.address.toLowerCase()

    expect(refusalOf(await buildWith(wallet, authorization))).toBe('200 OK')
    expect(refusalOf(await buildWith(wallet, { ...authorization, address: lower }))).toBe('200 OK')
  })

  test('the authorization of a delegated wallet is ignored, whatever it says', async () => {
    const wallet = await delegatedWallet(alpha)

    expect(refusalOf(await buildWith(wallet, await signedBy(wallet, { chainId: 0, nonce: 9 })))).toBe(
      '200 OK',
    )
  })
})

const word = (digit: string): Hex => `0x${digit.repeat(64)}`

describe('submit', () => {
  test('409 INVALID_AUTHORIZATION if the nonce changed since the build; a new one swaps', async () => {
    const wallet = await instantWallet(alpha)
    const { submission } = await prepare({ api }, wallet, order)
    await spendNonce(wallet)
    await until(async () => (await nonceOf(wallet)) === 1)

    const reply = await api.submit(submission)
    const retried = await prepare({ api }, wallet, order)

    expect(refusalOf(reply)).toBe('409 INVALID_AUTHORIZATION')
    expect(reply.body.recovery).toMatchObject({
      ...{ action: 'SIGN_AUTHORIZATION', chainId: alpha.chainId, delegationTarget: target, accountNonce: 1 },
    })
    expect(refusalOf(await api.submit(retried.submission))).toBe('200 OK')
  })

  test('422 UNSUPPORTED_DELEGATION if the wallet got another delegate since the build', async () => {
    const wallet = await instantWallet(alpha)
    const { submission } = await prepare({ api }, wallet, order)
    await delegateTo(alpha, wallet.address, OTHER_PROVIDER)

    expect(refusalOf(await api.submit(submission))).toBe('422 UNSUPPORTED_DELEGATION')
  })

  test('a wallet that was delegated since the build still swaps', async () => {
    const wallet = await instantWallet(alpha)
    const { submission } = await prepare({ api }, wallet, order)
    await delegateTo(alpha, wallet.address, target)

    expect(refusalOf(await api.submit(submission))).toBe('200 OK')
    expect(await authorize(api, wallet, alpha.chainId)).toBeUndefined()
  })

  test('an existing swap is returned whatever happened to the delegation and the balance', async () => {
    const wallet = await instantWallet(alpha)
    const { submission } = await prepare({ api }, wallet, order)
    const first = await api.submit(submission)
    await delegateTo(alpha, wallet.address, OTHER_PROVIDER)
    await alpha.client.setBalance({ address: wallet.address, value: 0n })

    expect((await api.submit(submission)).body.swapId).toBe(first.body.swapId)
  })

  test('two first swaps of a new wallet, each with its authorization, both settle', async () => {
    const wallet = await instantWallet(alpha)
    const prepared = [await prepare({ api }, wallet, order), await prepare({ api }, wallet, order)]

    const replies = await Promise.all(prepared.map(({ submission }) => api.submit(submission)))

    expect(replies.map(refusalOf)).toEqual(['200 OK', '200 OK'])
    const outcomes = await Promise.all(replies.map(({ body }) => outcomeOf({ api }, body.swapId)))
    expect(outcomes.map(({ status }) => status)).toEqual(['settled', 'settled'])
  })
})
