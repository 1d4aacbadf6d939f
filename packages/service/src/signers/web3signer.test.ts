import { readFileSync } from 'node:fs'
import { attestationTypes, geoOpDomain } from '@geoswap/protocol'
import { type Address, type Hex, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, signAuthorization } from 'viem/accounts'
import { afterEach, expect, test } from 'vitest'
import { type StandInSigner, startWeb3Signer } from '../../test/support/web3signer.ts'
import { openServer } from './web3signer.ts'

const key = generatePrivateKey()
const account = privateKeyToAccount(key)
const running: StandInSigner[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

type Wanted = { clientTls?: string; tls?: Parameters<typeof startWeb3Signer>[1]; addresses?: Address[] }

async function open({ clientTls, tls, addresses = [account.address] }: Wanted = {}) {
  const standIn = await startWeb3Signer([generatePrivateKey(), key], tls)
  running.push(standIn)
  const options = { clientTls, assertOutsideTransaction: () => {}, onAnswer: () => {} }
  const server = openServer({ url: standIn.url, addresses, timeoutMs: 2_000 }, addresses, options)
  const [signer] = server.evm
  if (!signer) throw new Error('No signer')
  return { standIn, server, signer }
}

const transaction = {
  ...{ chainId: 8453, nonce: 7, to: zeroAddress, data: '0x1234' as Hex, gas: 21_000n },
  ...{ type: 'eip1559' as const, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n },
}
const claims = {
  domain: geoOpDomain({ chainId: 8453, escrow: zeroAddress }),
  types: attestationTypes,
  primaryType: 'Claims' as const,
  message: { ops: [`0x${'ab'.repeat(32)}` as Hex] },
}

test('a remote signer makes the same bytes as the key itself', async () => {
  const { signer } = await open()
  const authorization = await signAuthorization({
    ...{ address: account.address, chainId: 8453, nonce: 0 },
    privateKey: generatePrivateKey(),
  })
  const delegating = { ...transaction, type: 'eip7702' as const, authorizationList: [authorization] }

  expect(await signer.signTransaction(transaction)).toBe(await account.signTransaction(transaction))
  expect(await signer.signTransaction(delegating)).toBe(await account.signTransaction(delegating))
  expect(await signer.signTypedData(claims)).toBe(await account.signTypedData(claims))
})

test('the higher of two equal signatures is lowered, with the parity that fits', async () => {
  const { standIn, signer } = await open()
  standIn.behave('highS')

  expect(await signer.signTypedData(claims)).toBe(await account.signTypedData(claims))
})

test('a request whose connection breaks is repeated at once', async () => {
  const { standIn, signer } = await open()
  standIn.behave('closesOnce')

  expect(await signer.signTypedData(claims)).toBe(await account.signTypedData(claims))
})

test.each([
  ['away', /does not answer: /],
  ['late', /does not answer: No answer within 2000 ms/],
  ['failing', /answers with HTTP status 500/],
  ['wrong', /answered with a signature that is not of 0x/],
] as const)('a signer that is %s gives no signature, says why, and signs the same later', async (as, why) => {
  const { standIn, server, signer } = await open()
  await server.check()

  standIn.behave(as)
  await expect(signer.signTransaction(transaction)).rejects.toThrow(why)
  const problem = server.problem()
  standIn.behave('usual')
  await server.check()

  expect(problem).toMatch(why)
  expect(server.problem()).toBeUndefined()
  expect(await signer.signTransaction(transaction)).toBe(await account.signTransaction(transaction))
})

test('a key that was removed is reported by its address, until it is back', async () => {
  const { standIn, server, signer } = await open()
  await server.check()
  standIn.forgetKeys()

  await expect(signer.signTypedData(claims)).rejects.toThrow(
    `does not hold the key of ${account.address} any more`,
  )
  await expect(server.check()).rejects.toThrow(`lacks ${account.address}`)
  expect(server.problem()).toContain(account.address)
})

test('a check refuses a server without the key, and waits for one that is away', async () => {
  const stranger = privateKeyToAccount(generatePrivateKey()).address
  const { server } = await open({ addresses: [stranger] })
  const gone = await open()
  gone.standIn.behave('away')

  await expect(server.check()).rejects.toThrow(`lacks ${stranger}`)
  await gone.server.check()

  expect(gone.server.problem()).toMatch(/does not answer/)
})

test('a check lets each key sign once, and again only after a failure', async () => {
  const { standIn, server } = await open()
  await server.check()
  await server.check()

  expect(standIn.asked).toHaveLength(1)
})

const pemOf = (name: string) =>
  readFileSync(new URL(`../../test/support/tls/${name}.pem`, import.meta.url), 'utf8')

test('a server that knows its clients signs for the one with the certificate', async () => {
  const [server, client] = [pemOf('server'), pemOf('client')]
  const tls = { cert: server, key: server, ca: client, requestCert: true, rejectUnauthorized: true }
  const known = await open({ tls, clientTls: `${client}${server.split('-----BEGIN PRIVATE')[0]}` })
  const stranger = await open({ tls, clientTls: server })

  expect(await known.signer.signTypedData(claims)).toBe(await account.signTypedData(claims))
  await expect(stranger.signer.signTypedData(claims)).rejects.toThrow(/does not answer/)
})
