import { TERMS_BYTES, tags } from '@geoswap/solana-escrow'
import { AccountRole, type Address, type Instruction } from '@solana/kit'
import { expect, test } from 'vitest'
import { addressOf, solanaNode } from '../../../test/support/solana-node.ts'
import { stub } from '../../../test/support/stub.ts'
import type { LockRef } from '../chain.ts'
import { NATIVE_TOKEN } from './accounts.ts'
import { NATIVE_SOL } from './bytes.ts'
import { inputInstructions } from './input.ts'
import { findExit } from './locks.ts'
import { budgetInstructions } from './message.ts'
import type { SolanaParts } from './parts.ts'

const [program, vault, attester, wallet, locker] = [1, 2, 3, 4, 5].map(addressOf) as [
  ...[Address, Address, Address, Address, Address],
]
const settings = { program, vault, attester }
const op = stub<LockRef>({
  ...{ hash: `0x${'ab'.repeat(32)}`, wallet, locker, refundDeadline: 1_000 },
  ...{ inputToken: NATIVE_SOL, inputAmount: 5n },
})
const at = { commitment: 'confirmed', number: 9n } as const

/** An instruction of the escrow program that takes money from this account. */
function takes(tag: number, source: string): Instruction {
  const isDelivery = tag === tags.deliver
  const length = isDelivery || tag === tags.claim ? 8 : 7
  const accounts = Array.from({ length }, (_, index) => (index === 1 ? source : vault))
  return {
    programAddress: program,
    accounts: accounts.map((address) => ({ address: address as Address, role: AccountRole.WRITABLE })),
    data: new Uint8Array(isDelivery ? 209 : 2 + TERMS_BYTES).with(0, tag),
  }
}

const locking = [
  ...budgetInstructions({ units: 1, microLamportsPerUnit: 1n }),
  ...(await inputInstructions(settings, {
    ...{ opHash: op.hash, wallet, token: NATIVE_TOKEN, amount: 5n, feePayer: locker, refundDeadline: 1_000 },
  })),
]
const landed = {
  claim: { slot: 7n, instructions: [takes(tags.claim, 'input')] },
  refund: { slot: 8n, instructions: [takes(tags.refund, 'other'), takes(tags.refund, 'input')] },
  other: { slot: 8n, instructions: [takes(tags.claim, 'other')] },
  delivery: { slot: 8n, instructions: [takes(tags.deliver, 'input')] },
  lock: { slot: 6n, signers: [locker, wallet], instructions: locking },
}

function findWith(history: readonly string[], signed?: readonly string[]) {
  const { calls, ...agreed } = solanaNode({ landed, histories: { input: history } })
  const addresses = { inputOf: async () => 'input' }
  const parts = stub<SolanaParts>({ client: { agreed }, settings, addresses })
  return { calls, found: findExit(parts, op, at, signed) }
}

const claimed = { txHash: 'claim', slot: 7n, kind: 'claimed' }
const refunded = { txHash: 'refund', slot: 8n, kind: 'refunded' }

test.each<[string, string[], string[], object | undefined]>([
  ['never came', [], [], undefined],
  ['was claimed', ['claim', 'lock'], [], claimed],
  ['was refunded, together with another', ['refund', 'lock'], [], refunded],
  ['was claimed before strangers named its account', ['other', 'delivery', 'claim'], [], claimed],
  ['was claimed by a transaction that is not recorded', ['claim'], ['lost', 'other'], claimed],
])('the exit of an input that %s is in its history', async (_, history, signed, exit) => {
  expect(await findWith(history, signed).found).toEqual(exit)
})

test('a recorded exit is found without the history', async () => {
  const { calls, found } = findWith([], ['lost', 'refund'])

  expect(await found).toEqual(refunded)
  expect(calls).toEqual(['lost', 'refund'])
})

test('an input that came while it was looked for decides nothing', async () => {
  await expect(findWith(['lock']).found).rejects.toThrow(`The input of ${op.hash} changed while it was read`)
})
