import { expect, test } from 'vitest'
import { addressOf, solanaNode } from '../../../test/support/solana-node.ts'
import { signAsWallet } from '../../../test/support/solana-wallet.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { NATIVE_TOKEN } from './accounts.ts'
import { NATIVE_SOL, toBase64 } from './bytes.ts'
import { NO_LIFETIME } from './heads.ts'
import { buildInput, inputInstructions } from './input.ts'
import { budgetInstructions, joinWire } from './message.ts'
import type { SolanaParts } from './parts.ts'
import { createSolanaSigner } from './settings.ts'
import { isOpSigned } from './signed-input.ts'

const wallet = await createSolanaSigner(new Uint8Array(32).fill(1))
const stranger = await createSolanaSigner(new Uint8Array(32).fill(2))
const settings = { program: addressOf(1), vault: addressOf(2), attester: addressOf(3) }
const locker = addressOf(4)
const op = stub<Op>({
  ...{ hash: `0x${'ab'.repeat(32)}`, wallet: wallet.address, locker, refundDeadline: 1_000 },
  ...{ inputToken: NATIVE_SOL, inputAmount: 5n },
})
const input = {
  ...{ opHash: op.hash, wallet: wallet.address, token: NATIVE_TOKEN, amount: 5n, feePayer: locker },
  refundDeadline: 1_000,
}
const priced = { microLamportsPerUnit: 1n, lifetime: NO_LIFETIME }
const { unsignedTransaction } = await buildInput(settings, { ...input, ...priced })
const signature = await signAsWallet(wallet, unsignedTransaction)

const instructions = [
  ...budgetInstructions({ units: 1, microLamportsPerUnit: 1n }),
  ...(await inputInstructions(settings, input)),
]
const landed = {
  lock: { slot: 6n, signers: [locker, wallet.address], instructions },
  other: { slot: 7n, instructions: [] },
}

/** With this history of the account of its input. */
function isSigned(swap: Pick<Swap, 'signature'> & { op?: Partial<Op> }, history: readonly string[] = []) {
  const { calls: _, ...agreed } = solanaNode({ landed, histories: { input: history } })
  const addresses = { inputOf: async () => 'input' }
  const parts = stub<SolanaParts>({ client: { agreed }, settings, addresses })
  return isOpSigned(parts, { ...swap, op: { ...op, ...swap.op } } as Swap)
}

const wires = (count: number, message: Uint8Array) =>
  toBase64(
    joinWire(
      Array.from({ length: count }, () => new Uint8Array(64)),
      message,
    ),
  )

test.each<[string, string, boolean]>([
  ['by its wallet', signature, true],
  ['by somebody else', await signAsWallet(stranger, unsignedTransaction), false],
  ['by nobody', unsignedTransaction, false],
  ['as a text that is no transaction', 'no base64', false],
  ['as a transaction with one signature', wires(1, new Uint8Array(100)), false],
  ['as a transaction that is no input', wires(2, new Uint8Array(100)), false],
])('an input that was signed %s counts as signed, or not', async (_, text, expected) => {
  expect(await isSigned({ signature: text }, ['lock'])).toBe(expected)
})

test('the signature for another op does not count', async () => {
  expect(await isSigned({ signature, op: { inputAmount: 6n } }, ['lock'])).toBe(false)
})

test.each<[string, string[], boolean]>([
  ['was taken', ['lock'], true],
  ['was taken before strangers named its account', ['other', 'lock'], true],
  ['was not taken', ['other'], false],
  ['has no history', [], false],
])('without a signature an input counts as signed if it %s', async (_, history, expected) => {
  expect(await isSigned({ signature: '' }, history)).toBe(expected)
  expect(await isSigned({ signature, op: { isOrphan: true } }, history)).toBe(expected)
})
