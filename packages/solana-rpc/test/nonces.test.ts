import {
  appendTransactionMessageInstructions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type KeyPairSigner,
  type Nonce,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingDurableNonce,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import {
  fetchNonce,
  getCreateAccountInstruction,
  getInitializeNonceAccountInstruction,
  getTransferSolInstruction,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SOL, startWorld, type World } from './world.ts'

const NONCE_BYTES = 80n

// Slots are paused: each test advances time itself.
let world: World
beforeAll(async () => {
  world = await startWorld()
  await world.dev.dev_pauseSlots().send()
})
afterAll(() => world.chain.stop())

async function createNonce(payer: KeyPairSigner) {
  const newAccount = await generateKeyPairSigner()
  const lamports = await world.rpc.getMinimumBalanceForRentExemption(NONCE_BYTES).send()
  const place = { payer, newAccount, lamports, space: NONCE_BYTES, programAddress: SYSTEM_PROGRAM_ADDRESS }
  const own = { nonceAccount: newAccount.address, nonceAuthority: payer.address }
  await world.send(payer, [getCreateAccountInstruction(place), getInitializeNonceAccountInstruction(own)])
  await world.dev.dev_advanceSlots(1).send()
  return newAccount.address
}

async function signWithNonce(
  payer: KeyPairSigner,
  nonceAccountAddress: Awaited<ReturnType<typeof createNonce>>,
) {
  const { data } = await fetchNonce(world.rpc, nonceAccountAddress, { commitment: 'processed' })
  const to = (await generateKeyPairSigner()).address
  const lifetime = {
    ...{ nonce: data.blockhash as string as Nonce, nonceAccountAddress },
    nonceAuthorityAddress: payer.address,
  }
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingDurableNonce(lifetime, message),
    (message) =>
      appendTransactionMessageInstructions(
        [getTransferSolInstruction({ source: payer, destination: to, amount: SOL })],
        message,
      ),
    (message) => signTransactionMessageWithSigners(message),
  )
  const options = { encoding: 'base64', skipPreflight: true } as const
  return {
    send: () => world.rpc.sendTransaction(getBase64EncodedWireTransaction(signed), options).send(),
    received: async () => (await world.rpc.getBalance(to, { commitment: 'processed' }).send()).value,
  }
}

test('a transaction with a nonce outlives every blockhash, and of two with the same value one lands', async () => {
  const payer = await world.fundedSigner()
  const account = await createNonce(payer)
  const [first, second] = [await signWithNonce(payer, account), await signWithNonce(payer, account)]
  await world.dev.dev_advanceSlots(200).send()

  await first.send()
  await second.send()
  await world.dev.dev_advanceSlots(1).send()
  await second.send()

  expect([await first.received(), await second.received()]).toEqual([SOL, 0n])
})
