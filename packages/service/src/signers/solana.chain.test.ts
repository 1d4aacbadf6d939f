import { generateKeyPairSigner } from '@solana/kit'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SOL, type SolanaWorld, startSolanaWorld } from '../../test/support/solana.ts'
import { type StandInSigner, startWeb3Signer } from '../../test/support/web3signer.ts'
import { NATIVE_TOKEN } from '../chains/solana/accounts.ts'
import { readSignatures } from '../chains/solana/reads.ts'
import { signMessage } from '../chains/solana/settings.ts'
import { openServer } from './web3signer.ts'

const MESSAGE = new Uint8Array(200).fill(7)

let world: SolanaWorld
let standIn: StandInSigner
beforeAll(async () => {
  world = await startSolanaWorld()
})
afterEach(() => standIn?.stop())
afterAll(() => world.chain.stop())

/** A server with the keys of fee payer and vault. */
async function open(assertOutsideTransaction = () => {}) {
  const { feePayer, authority } = world
  standIn = await startWeb3Signer([generatePrivateKey()], undefined, [feePayer, authority])
  const addresses = [feePayer.address, authority.address]
  const options = { clientTls: undefined, assertOutsideTransaction, onAnswer: () => {} }
  const server = openServer({ url: standIn.url, addresses, timeoutMs: 2_000 }, addresses, options)
  const [first, second] = server.solana
  if (!first || !second) throw new Error('Two signers')
  return { server, signers: [first, second] as const }
}

test('a delivery that fee payer and vault sign at a server lands, with the bytes of their keys', async () => {
  const { signers } = await open()
  const to = (await generateKeyPairSigner()).address
  const payment = { to, token: NATIVE_TOKEN, amount: SOL, op: 'aa'.repeat(32) }

  const paid = await world.pay(payment, signers)
  await world.land(paid.raw)

  expect((await readSignatures(world.client, [paid.txHash])).get(paid.txHash)?.failed).toBe(false)
  expect((await world.client.rpc.getBalance(to).send()).value).toBe(SOL)
  expect(await signMessage(signers[1], MESSAGE)).toEqual(await signMessage(world.authority, MESSAGE))
})

test.each([
  ['away', /does not answer: /],
  ['late', /does not answer: No answer within 2000 ms/],
  ['failing', /answers with HTTP status 500/],
  ['wrong', /answered with a signature that is not of /],
  ['otherBytes', /answered with a signature that is not of /],
] as const)('a server that is %s gives no signature, says why, and signs the same later', async (as, why) => {
  const { server, signers } = await open()
  const [feePayer] = signers
  await server.check()

  standIn.behave(as)
  await expect(signMessage(feePayer, MESSAGE)).rejects.toThrow(why)
  const silent = server.silent()
  standIn.behave('usual')
  await server.check()

  expect(silent).toEqual([feePayer.address])
  expect([server.problem(), server.silent()]).toEqual([undefined, []])
  expect(await signMessage(feePayer, MESSAGE)).toEqual(await signMessage(world.feePayer, MESSAGE))
})

test('a check refuses a server that no longer lists a key, and signs nothing that a chain could take', async () => {
  const { server } = await open()
  await server.check()
  const asked = [...standIn.asked]
  standIn.forgetKeys()

  await expect(server.check()).rejects.toThrow(`lacks ${world.feePayer.address}`)
  expect(server.silent()).toEqual([world.feePayer.address, world.authority.address])
  expect(asked.map((data) => data.slice(0, 4))).toEqual(['0xff', '0xff'])
})

test('nothing is asked inside a database transaction', async () => {
  const { signers } = await open(() => {
    throw new Error('inside')
  })

  await expect(signMessage(signers[0], MESSAGE)).rejects.toThrow('inside')
  expect(standIn.asked).toEqual([])
})
