import { expect, test } from 'vitest'
import { addressOf } from '../../../test/support/solana-node.ts'
import { messageOf, signAsWallet } from '../../../test/support/solana-wallet.ts'
import { stub } from '../../../test/support/stub.ts'
import { NATIVE_TOKEN } from './accounts.ts'
import { sha256Hex, toBase64 } from './bytes.ts'
import { feeLamports } from './fees.ts'
import { NO_LIFETIME } from './heads.ts'
import { buildInput } from './input.ts'
import { joinWire } from './message.ts'
import type { SolanaParts } from './parts.ts'
import { createSolanaSigner } from './settings.ts'
import { checkSignedInput, cosignInput, isSignedBy } from './signed-input.ts'

const wallet = await createSolanaSigner(new Uint8Array(32).fill(1))
const feePayer = await createSolanaSigner(new Uint8Array(32).fill(2))
const RENT = 7n
const parts = stub<SolanaParts>({
  settings: { program: addressOf(1), vault: addressOf(2), attester: addressOf(3) },
  facts: { rent: async () => ({ tokenAccountLamports: RENT }) },
})
const [units, microLamportsPerUnit] = [40_000, 1_000_000n]
const { unsignedTransaction, messageHash } = await buildInput(parts.settings, {
  ...{ opHash: `0x${'ab'.repeat(32)}`, wallet: wallet.address, token: NATIVE_TOKEN, amount: 5n },
  ...{ feePayer: feePayer.address, refundDeadline: 1_000, units, microLamportsPerUnit },
  lifetime: NO_LIFETIME,
})
const signedTransaction = await signAsWallet(wallet, unsignedTransaction)

const noMessage = new Uint8Array(100)
const wires = (count: number, message: Uint8Array) => {
  const signatures = Array.from({ length: count }, () => new Uint8Array(64))
  return toBase64(joinWire(signatures, message))
}
const submitted = { messageHash, wallet: wallet.address as string, signedTransaction }

test('the built transaction, signed by its wallet, is accepted with its terms', async () => {
  expect(await checkSignedInput(parts, submitted)).toMatchObject({
    ...{ kind: 'ok', signedTransaction, terms: { amount: 5n, feePayer: feePayer.address } },
  })
})

test.each<[string, Partial<typeof submitted>, string]>([
  ['a text that is no transaction', { signedTransaction: 'no base64' }, 'mismatch'],
  ['a transaction of one signature', { signedTransaction: wires(1, noMessage) }, 'mismatch'],
  ['another transaction than the built one', { messageHash: 'ab'.repeat(32) }, 'mismatch'],
  [
    'a transaction that is no input',
    { signedTransaction: wires(2, noMessage), messageHash: await sha256Hex(noMessage) },
    'mismatch',
  ],
  ['the transaction of another wallet', { wallet: feePayer.address }, 'mismatch'],
  ['an unsigned transaction', { signedTransaction: unsignedTransaction }, 'badSignature'],
])('%s is refused', async (_, change, kind) => {
  expect(await checkSignedInput(parts, { ...submitted, ...change })).toEqual({ kind })
})

test('nothing is signed by an address that has no key', async () => {
  const signature = new Uint8Array(64)

  expect(await isSignedBy('nobody', signature, messageOf(unsignedTransaction))).toBe(false)
})

const cost = feeLamports(units, microLamportsPerUnit) + RENT
const cosign = (text: string, { maxCostLamports = cost, signer = feePayer } = {}) =>
  cosignInput(parts, signer, { signedTransaction: text, maxCostLamports })

test('a fee payer signs an input that costs all that it may spend, and no lamport more', async () => {
  const { raw } = await cosign(signedTransaction)

  expect(await isSignedBy(feePayer.address, firstOf(raw), messageOf(raw))).toBe(true)
  await expect(cosign(signedTransaction, { maxCostLamports: cost - 1n })).rejects.toThrow('costs more')
})

const firstOf = (raw: string) => Uint8Array.from(Buffer.from(raw, 'base64').subarray(1, 65))

test.each<[string, string, typeof feePayer]>([
  ['a text that is no transaction', 'no base64', feePayer],
  ['a transaction of one signature', wires(1, noMessage), feePayer],
  ['a transaction that is no input', wires(2, noMessage), feePayer],
  ['an input that another pays for', signedTransaction, wallet],
])('a fee payer does not sign %s', async (_, text, signer) => {
  await expect(cosign(text, { signer })).rejects.toThrow('Not an input that this fee payer pays for')
})
