import { geoOpTypes } from '@geoswap/protocol'
import {
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type KeyPairSigner,
} from '@solana/kit'
import { type Hex, hashStruct, pad } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { accountOf, authorityOf, operationOf, prepareSolana, transactionsOf } from '../solana-orders.ts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, quoteOnceSettled, toRequest } from '../world.ts'

const local = inject('local')
const { slotMs = 400 } = local
const { alpha } = createWorld(local)
const recipient = privateKeyToAddress(generatePrivateKey())
const order = { sell: 'USDC', to: alpha, buy: 'USDC', amount: 10_000_000n, recipient }

let api: CheckedClient
let solana: SolanaWorld
let wallet: KeyPairSigner
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  solana = await createSolanaWorld(local)
  wallet = await solana.wallet({ USDC: 100_000_000n })
})

const quoteToken = async () =>
  (await quoteOnceSettled(api, toRequest(wallet, { from: solana, ...order }))).geoQuoteToken

function decode(transaction: string) {
  const wire = getBase64Encoder().encode(transaction)
  const { signatures, messageBytes } = getTransactionDecoder().decode(wire)
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
  if (message.version !== 0) throw new Error(`A transaction of version ${message.version}`)
  return { wire, signatures, message }
}

test('a built transaction has version 0 and two empty signatures, and fits into a packet', async () => {
  const { build, operation } = await prepareSolana({ api, solana }, wallet, order)

  const { wire, signatures, message } = decode(build.unsignedTransaction)
  expect(wire.length).toBeLessThanOrEqual(1_232)
  expect(signatures).toEqual({ [operation.feePayer]: null, [wallet.address]: null })
  expect(Object.keys(signatures)).toEqual([operation.feePayer, wallet.address])
  expect([...wire.slice(1, 129)]).toEqual(Array.from({ length: 128 }, () => 0))
  expect(message).not.toHaveProperty('addressTableLookups')
})

test('the transaction does exactly what operation says', async () => {
  const { build, operation, quote } = await prepareSolana({ api, solana }, wallet, order)

  const { message } = decode(build.unsignedTransaction)
  const [, , memo, create, transfer, ...more] = message.instructions.map(
    ({ accountIndices = [], data = [] }) => ({
      accounts: accountIndices.map((index) => message.staticAccounts[index]),
      data: Buffer.from(Uint8Array.from(data)),
    }),
  )

  expect(more).toEqual([])
  expect(operation).toMatchObject({
    wallet: wallet.address,
    token: solana.token('USDC'),
    amount: quote.input,
  })
  const authority = await authorityOf(operation)
  const source = await accountOf(solana, wallet.address, 'USDC')
  expect(operation.destination).toBe(await accountOf(solana, authority, 'USDC'))
  expect(message).toMatchObject({ lifetimeToken: operation.blockhash })
  expect(create?.accounts.slice(0, 3)).toEqual([operation.feePayer, operation.destination, authority])
  // Create, which fails for an account that exists.
  expect([...(create?.data ?? [])]).toEqual([0])
  expect(memo?.data.toString()).toBe(`${operation.opId} ${operation.refundDeadline}`)
  expect(transfer?.accounts).toEqual([source, operation.token, operation.destination, operation.wallet])
  // TransferChecked: its number, the amount, the decimals.
  expect(transfer?.data[0]).toBe(12)
  expect(transfer?.data.readBigUInt64LE(1)).toBe(BigInt(quote.input))
})

test("the EIP-712 hash of the delivery is the op's id, and it covers recipient, token and minimum", async () => {
  const { operation, quote } = await prepareSolana({ api, solana }, wallet, order)

  const data = operation.delivery as never
  const hash = hashStruct({ types: geoOpTypes, primaryType: 'Delivery', data })
  expect(hash).toBe(`0x${operation.opId}`)
  expect(operation.delivery).toMatchObject({
    destinationChain: String(alpha.chainId),
    outputToken: pad(alpha.token('USDC') as Hex, { size: 32 }),
    minOutput: quote.minOutput,
    vault: pad(alpha.contracts.vault, { size: 32 }),
    recipient: pad(recipient, { size: 32 }),
  })
})

test('an authorization is accepted and ignored', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const fields = { chainId: alpha.chainId, nonce: 0 }
  const signed = await owner.signAuthorization({ ...fields, contractAddress: alpha.contracts.account })
  const { r, s, yParity } = signed
  const authorization = { ...fields, address: alpha.contracts.account, r, s, yParity }

  const { status, body } = await api.buildSolana({ geoQuoteToken: await quoteToken(), authorization })

  expect(status).toBe(200)
  expect(operationOf(body)).toMatchObject({ wallet: wallet.address, amount: '10000000' })
})

test('a rebuilt transaction has the same op, and submitting either creates one swap', async () => {
  const geoQuoteToken = await quoteToken()
  const first = (await api.buildSolana({ geoQuoteToken })).body
  await solana.dev.dev_advanceSlots(2).send()
  const second = (await api.buildSolana({ geoQuoteToken })).body
  const submit = async ({ geoOpToken, unsignedTransaction }: typeof first) => {
    const signedTransaction = await solana.signTransaction(wallet, unsignedTransaction)
    return api.submitSolana({ geoOpToken, signedTransaction })
  }

  const replies = [await submit(second), await submit(first), await submit(second)]

  const [swapId = ''] = replies.map(({ body }) => body.swapId)
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(replies.map(({ body }) => body.swapId)).toEqual([swapId, swapId, swapId])
  const [one, other] = [operationOf(first), operationOf(second)]
  expect([one.opId, one.destination, one.delivery]).toEqual([other.opId, other.destination, other.delivery])
  expect(one.blockhash).not.toBe(other.blockhash)
  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
  expect(await transactionsOf(solana, { account: one.destination, opId: one.opId })).toHaveLength(1)
})

test('ten parallel submissions of one operation are one swap, and one input', async () => {
  const owner = await solana.wallet({ USDC: 100_000_000n })
  const { submission } = await prepareSolana({ api, solana }, owner, order)

  const replies = await Promise.all(Array.from({ length: 10 }, () => api.submitSolana(submission)))

  expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
  const [swapId = ''] = replies.map(({ body }) => body.swapId)
  expect(replies.map(({ body }) => body.swapId)).toEqual(replies.map(() => swapId))
  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
  expect(await solana.balanceOf(owner.address, solana.token('USDC'))).toBe(90_000_000n)
})

test("a quote whose swap took the wallet's balance can be rebuilt, and its submission returns that swap", async () => {
  const owner = await solana.wallet({ USDC: 10_000_000n })
  const { quote, submission, operation } = await prepareSolana({ api, solana }, owner, order)
  const { swapId } = (await api.submitSolana(submission)).body
  await outcomeOf({ api }, swapId)

  const { status, body } = await api.buildSolana({ geoQuoteToken: quote.geoQuoteToken })
  const signedTransaction = await solana.signTransaction(owner, body.unsignedTransaction)
  const again = await api.submitSolana({ geoOpToken: body.geoOpToken, signedTransaction })

  expect([status, operationOf(body).opId]).toEqual([200, operation.opId])
  expect(again.body).toEqual({ swapId, status: 'settled' })
})

test('an operation can be submitted while its blockhash is valid, 150 slots at most', async () => {
  const { build } = await prepareSolana({ api, solana }, wallet, order)

  const lifeMs = new Date(build.expiresAt).getTime() - Date.now()
  expect(build.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(lifeMs).toBeGreaterThan(100 * slotMs)
  expect(lifeMs).toBeLessThanOrEqual(150 * slotMs)
})
