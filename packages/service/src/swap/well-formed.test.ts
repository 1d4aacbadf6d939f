import { expect, test } from 'vitest'
import { type CustodyOf, isWellFormed, type OpContent, termsOfOp } from './op-terms.ts'
import type { Op } from './swap.ts'

const addressOf = (digit: string): `0x${string}` => `0x${digit.repeat(40)}`
const custodyOf: CustodyOf = (chainId) => ({
  escrow: addressOf(`${chainId}`),
  vault: addressOf(`${chainId + 2}`),
})

const content: OpContent = {
  ...{ originChain: 1, destinationChain: 2, wallet: addressOf('a'), locker: addressOf('b') },
  ...{ inputToken: addressOf('c'), inputAmount: 1_000n, outputToken: addressOf('d'), minOutput: 980n },
  ...{ recipient: addressOf('e'), position: 7n, round: 1n },
  ...{ opDeadline: 100, fillDeadline: 200, refundDeadline: 300 },
}

/** An op with the hashes of its own terms, valid or not. */
function named(terms: OpContent): Op {
  const { hash, deliveryHash } = termsOfOp(custodyOf, terms)
  return { ...terms, hash, deliveryHash } as Op
}

const judge = (op: Op) => isWellFormed(custodyOf, op)

test('an op with the hashes of its terms and deadlines in order is well-formed', () => {
  expect(judge(named(content))).toBe(true)
})

const stranger = addressOf('f')
const changes: Partial<Op>[] = [
  ...[{ originChain: 3 }, { destinationChain: 4 }, { wallet: stranger }, { locker: stranger }],
  ...[{ inputToken: stranger }, { inputAmount: 999n }, { outputToken: stranger }, { minOutput: 979n }],
  ...[{ recipient: stranger }, { position: 8n }, { round: 2n }],
  ...[{ opDeadline: 99 }, { fillDeadline: 201 }, { refundDeadline: 301 }],
  ...[{ hash: `0x${'0'.repeat(64)}` }, { deliveryHash: `0x${'0'.repeat(64)}` }],
]

test.each(changes.map((change) => [Object.keys(change).join(), change]))(
  'an op whose %s was changed after it was signed is not well-formed',
  (_, change) => {
    expect(judge({ ...named(content), ...change })).toBe(false)
  },
)

test.each([
  ['a fill deadline at the deadline of the op', { fillDeadline: 100 }],
  ['a fill deadline before the deadline of the op', { fillDeadline: 99 }],
  ['a refund deadline at the fill deadline', { refundDeadline: 200 }],
  ['a refund deadline before the fill deadline', { refundDeadline: 199 }],
  ['no round', { round: 0n }],
])('an op with %s is not well-formed, even with the hashes of its terms', (_, change) => {
  expect(judge(named({ ...content, ...change }))).toBe(false)
})
