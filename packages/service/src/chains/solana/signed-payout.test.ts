import {
  AccountRole,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type Instruction,
  signBytes,
} from '@solana/kit'
import { expect, test } from 'vitest'
import { addressOf } from '../../../test/support/solana-node.ts'
import { toBase64 } from './bytes.ts'
import { PAYMENT_UNITS, unitsWithMargin } from './fees.ts'
import { NO_LIFETIME } from './heads.ts'
import { budgetInstructions, compile, joinWire, splitWire } from './message.ts'
import type { SolanaParts } from './parts.ts'
import { createSolanaSigner } from './settings.ts'
import { cosignPayout } from './signing.ts'

const feePayer = await createSolanaSigner(new Uint8Array(32).fill(1))
const attester = await createSolanaSigner(new Uint8Array(32).fill(2))
const settings = { priorityPrice: { floor: 1n, cap: 1_000_000n } } as SolanaParts['settings']
const most = { units: unitsWithMargin(PAYMENT_UNITS), microLamportsPerUnit: 1_000_000n }
const budget = budgetInstructions(most)
const paying: Instruction = {
  programAddress: addressOf(1),
  accounts: [{ address: attester.address, role: AccountRole.READONLY_SIGNER }],
}

function messageWith(instructions: readonly Instruction[]): Uint8Array {
  const wire = compile({ feePayer: feePayer.address, lifetime: NO_LIFETIME, instructions })
  return splitWire(wire, { count: 2 })?.message ?? expect.unreachable('Not signed by two')
}

/** Signed by both, with only its first instructions. */
function startOf(message: Uint8Array, count: number): Uint8Array {
  const compiled = getCompiledTransactionMessageDecoder().decode(message)
  const instructions = 'instructions' in compiled ? compiled.instructions.slice(0, count) : []
  const cut = { ...compiled, instructions } as typeof compiled
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode(cut))
}

const whole = messageWith([...budget, paying])
const signed = new Uint8Array(64).fill(7)
/** As the attester sends it, valid until the height 90. */
const attest = (message: Uint8Array) => `90:${toBase64(joinWire([new Uint8Array(64), signed], message))}`
const cosign = (attested: string, signer = feePayer) =>
  cosignPayout({ settings }, signer, { kind: 'claim', attested })

test('the fee payer adds its signature to that of the attester, at the highest price that it may pay', async () => {
  const own = await signBytes(feePayer.keyPair.privateKey, whole)

  expect(await cosign(attest(whole))).toEqual({
    raw: toBase64(joinWire([own, signed], whole)),
    txHash: getBase58Decoder().decode(own),
    lastValid: 90n,
  })
})

test.each<[string, string]>([
  ['no transaction', 'none'],
  ['no message', attest(new Uint8Array(100))],
  ['a message without its compute budget', attest(messageWith([paying, paying]))],
  ['a message without instructions', attest(startOf(whole, 0))],
  ['a message with a limit alone', attest(startOf(whole, 1))],
])('the fee payer does not sign %s', async (_, attested) => {
  await expect(cosign(attested)).rejects.toThrow('Not a transaction that this fee payer pays for')
})

test('a fee payer does not sign what another pays for', async () => {
  await expect(cosign(attest(whole), attester)).rejects.toThrow(
    'Not a transaction that this fee payer pays for',
  )
})

test('a fee payer does not sign for more than a claim may cost that is urgent', async () => {
  const more = budgetInstructions({ ...most, units: most.units * 101 })

  await expect(cosign(attest(messageWith([...more, paying])))).rejects.toThrow('costs more')
})
