import {
  appendTransactionMessageInstruction,
  blockhash,
  compileTransaction,
  decompileTransactionMessage,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase64Decoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type KeyPairSigner,
  lamports,
  partiallySignTransaction,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { prepareSolana } from '../solana-orders.ts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, prepare } from '../world.ts'

const local = inject('local')
const operator = createOperator(inject('databaseUrl'))
const { alpha, beta } = createWorld(local)
const USDC = 1_000_000n
const recipient = privateKeyToAddress(generatePrivateKey())
const order = { sell: 'USDC', to: alpha, buy: 'USDC', amount: 10n * USDC, recipient }

let api: CheckedClient
let solana: SolanaWorld
let wallet: KeyPairSigner
let stranger: KeyPairSigner
let prepared: Awaited<ReturnType<typeof prepareSolana>>
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
  solana = await createSolanaWorld(local)
  wallet = await solana.wallet({ USDC: 10n * USDC })
  stranger = await generateKeyPairSigner()
  prepared = await prepareSolana({ api, solana }, wallet, order)
})

type Message = ReturnType<typeof decompile>

function decompile(transaction: string) {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(transaction))
  const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes)
  if (compiled.version !== 0) throw new Error(`A transaction of version ${compiled.version}`)
  return decompileTransactionMessage(compiled)
}

/** The built transaction, altered, and signed by the wallet. */
async function signChanged(change: (message: Message) => unknown): Promise<string> {
  const changed = change(decompile(prepared.build.unsignedTransaction)) as Parameters<
    typeof compileTransaction
  >[0]
  return getBase64EncodedWireTransaction(
    await partiallySignTransaction([wallet.keyPair], compileTransaction(changed)),
  )
}

const withInstructions = (change: (instructions: Message['instructions'][number][]) => unknown[]) =>
  signChanged((message) => ({ ...message, instructions: change([...message.instructions]) }))

const bytesOf = (transaction: string) => Uint8Array.from(getBase64Encoder().encode(transaction))
const textOf = (bytes: Uint8Array) => getBase64Decoder().decode(bytes)

/** The wallet's own transaction with other bytes around the message, or in it. */
const respelled: Record<string, () => string> = {
  'nothing at all': () => 'A',
  'base58 instead of base64': () => getBase58Decoder().decode(bytesOf(prepared.submission.signedTransaction)),
  'base64 of another alphabet': () =>
    prepared.submission.signedTransaction.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  'one byte short': () => textOf(bytesOf(prepared.submission.signedTransaction).slice(0, -1)),
  'half of it': () => textOf(bytesOf(prepared.submission.signedTransaction).slice(0, 200)),
  'one byte more': () => textOf(Uint8Array.from([...bytesOf(prepared.submission.signedTransaction), 0])),
  'only one signature': () => {
    const bytes = bytesOf(prepared.submission.signedTransaction)
    return textOf(Uint8Array.from([1, ...bytes.slice(65)]))
  },
}

const changed: Record<string, () => Promise<string>> = {
  'an instruction added': () =>
    signChanged((message) =>
      appendTransactionMessageInstruction(
        getTransferSolInstruction({
          source: { address: message.feePayer.address } as KeyPairSigner,
          destination: stranger.address,
          amount: lamports(1_000_000n),
        }),
        message,
      ),
    ),
  'an instruction left out': () => withInstructions(([, ...rest]) => rest),
  'two instructions in another order': () =>
    withInstructions(([limit, price, ...rest]) => [price, limit, ...rest]),
  'another fee payer': () =>
    signChanged((message) => setTransactionMessageFeePayer(stranger.address, message)),
  'another blockhash': () =>
    signChanged((message) => {
      const lifetime = { blockhash: blockhash(stranger.address), lastValidBlockHeight: 2n ** 32n }
      return setTransactionMessageLifetimeUsingBlockhash(lifetime, message)
    }),
  'another amount': () =>
    withInstructions((instructions) => {
      const transfer = instructions.at(-1)
      const data = Uint8Array.from(transfer?.data ?? [])
      new DataView(data.buffer).setBigUint64(1, 1n, true)
      return [...instructions.slice(0, -1), { ...transfer, data }]
    }),
  'another destination': () =>
    withInstructions((instructions) => {
      const transfer = instructions.at(-1)
      const accounts = (transfer?.accounts ?? []).map((account, at) =>
        at === 2 ? { ...account, address: stranger.address } : account,
      )
      return [...instructions.slice(0, -1), { ...transfer, accounts }]
    }),
}

const submit = (signedTransaction: string) =>
  api.submitSolana({ geoOpToken: prepared.build.geoOpToken, signedTransaction })

describe('422 TRANSACTION_MISMATCH', () => {
  test.each(Object.entries(respelled))('%s', async (_name, respell) => {
    expect(refusalOf(await submit(respell()))).toBe('422 TRANSACTION_MISMATCH')
  })

  test.each(Object.entries(changed))('%s, signed by the wallet', async (_name, change) => {
    expect(refusalOf(await submit(await change()))).toBe('422 TRANSACTION_MISMATCH')
  })

  test('the transaction of another build, signed by the wallet', async () => {
    const owner = await solana.wallet({ USDC: 10n * USDC })
    const other = await prepareSolana({ api, solana }, owner, order)

    expect(refusalOf(await submit(other.submission.signedTransaction))).toBe('422 TRANSACTION_MISMATCH')
  })
})

describe('422 INVALID_SIGNATURE', () => {
  test('for the built transaction without a signature, with advice to sign it', async () => {
    const reply = await submit(prepared.build.unsignedTransaction)

    expect(refusalOf(reply)).toBe('422 INVALID_SIGNATURE')
    expect(reply.body.message).toContain('transaction')
    expect(reply.body.message).not.toContain('geoOpHash')
  })

  test("for another wallet's signature", async () => {
    const { unsignedTransaction } = prepared.build
    const wire = getTransactionDecoder().decode(getBase64Encoder().encode(unsignedTransaction))
    const { signatures } = await partiallySignTransaction([stranger.keyPair], {
      ...wire,
      signatures: { [stranger.address]: null },
    })
    const forged = { ...wire.signatures, [wallet.address]: signatures[stranger.address] }

    const reply = await submit(
      getBase64EncodedWireTransaction({ ...wire, signatures: forged } as typeof wire),
    )

    expect(refusalOf(reply)).toBe('422 INVALID_SIGNATURE')
  })

  test('for a signature with one bit flipped', async () => {
    const bytes = bytesOf(prepared.submission.signedTransaction)
    bytes[100] = (bytes[100] ?? 0) ^ 1

    expect(refusalOf(await submit(textOf(bytes)))).toBe('422 INVALID_SIGNATURE')
  })
})

describe('401 INVALID_TOKEN', () => {
  test('for the tokens of a Solana swap at the calls of EVM swaps', async () => {
    const { geoQuoteToken } = prepared.quote
    const { geoOpToken } = prepared.build

    const replies = [
      await api.build({ geoQuoteToken }),
      await api.submit({ geoOpToken, signature: `0x${'11'.repeat(65)}` }),
      await api.submit({ geoOpToken: geoQuoteToken, signature: `0x${'11'.repeat(65)}` }),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '401 INVALID_TOKEN'))
  })

  test('for the tokens of an EVM swap at the calls of Solana swaps', async () => {
    const owner = await delegatedWallet(alpha)
    const evmOrder = { from: alpha, sell: 'ETH', to: beta, buy: 'ETH', amount: 10n ** 17n }
    const { quote, build } = await prepare({ api }, owner, evmOrder)
    const { signedTransaction } = prepared.submission

    const replies = [
      await api.buildSolana({ geoQuoteToken: quote.geoQuoteToken }),
      await api.submitSolana({ geoOpToken: build.geoOpToken, signedTransaction }),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '401 INVALID_TOKEN'))
  })

  test('for the tokens of another account', async () => {
    const other = createCheckedClient({ ...local, apiKey: await operator.createKey() })

    const replies = [
      await other.buildSolana({ geoQuoteToken: prepared.quote.geoQuoteToken }),
      await other.submitSolana(prepared.submission),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '401 INVALID_TOKEN'))
  })
})

test('422 INSUFFICIENT_BALANCE for a second swap of the same tokens', async () => {
  const owner = await solana.wallet({ USDC: 15n * USDC })
  const [first, second] = [
    await prepareSolana({ api, solana }, owner, order),
    await prepareSolana({ api, solana }, owner, order),
  ]

  const replies = [await api.submitSolana(first.submission), await api.submitSolana(second.submission)]

  expect(replies.map(refusalOf)).toEqual(['200 OK', '422 INSUFFICIENT_BALANCE'])
  expect((await outcomeOf({ api }, replies[0]?.body.swapId ?? '')).status).toBe('settled')
  expect(await solana.balanceOf(owner.address, solana.token('USDC'))).toBe(5n * USDC)
})

test('refused submissions stored nothing and took nothing: the genuine transaction is a new swap', async () => {
  const forgeries = [...Object.values(respelled), ...Object.values(changed)]
  for (const forge of forgeries) await submit(await forge())
  const held = await solana.balanceOf(wallet.address, solana.token('USDC'))
  const before = Date.now()

  const { body } = await api.submitSolana(prepared.submission)

  expect(held).toBe(10n * USDC)
  const outcome = await outcomeOf({ api }, body.swapId)
  expect(outcome.status).toBe('settled')
  expect(new Date(outcome.createdAt).getTime()).toBeGreaterThanOrEqual(before)
  expect(await solana.balanceOf(wallet.address, solana.token('USDC'))).toBe(0n)
})
