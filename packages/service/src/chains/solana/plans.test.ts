import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { expect, test } from 'vitest'
import { addressOf } from '../../../test/support/solana-node.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { NATIVE_TOKEN } from './accounts.ts'
import { attestPayout } from './attested.ts'
import { NATIVE_SOL } from './bytes.ts'
import { claimBound } from './facts.ts'
import { accountUnits, unitsWithMargin } from './fees.ts'
import { NO_LIFETIME } from './heads.ts'
import type { SolanaParts } from './parts.ts'
import { planDelivery, planInput, planPayout } from './plans.ts'
import { createSolanaSigner } from './settings.ts'

const attester = await createSolanaSigner(new Uint8Array(32).fill(1))
const token = { mint: addressOf(4), program: TOKEN_PROGRAM_ADDRESS, decimals: 6 }
const feePayers = { input: addressOf(2), delivery: addressOf(3) }
const HASH = `0x${'ab'.repeat(32)}`
const rent = { emptyLamports: 1n, tokenAccountLamports: 2n, token2022AccountLamports: 3n, markerLamports: 4n }
const RING = `0x${'cd'.repeat(32)}`
const answer = <Value>(value: Value) => ({ send: async () => value })

/** A node at this height, where a transaction that lives uses so many units, or fails. */
function partsWith({ height = 0n, units = 20_000n, isFailing = false } = {}) {
  const known = new Map<string, number>()
  const rpc = {
    simulateTransaction: (_wire: string, { replaceRecentBlockhash = false }) =>
      answer({
        value: { err: isFailing || !replaceRecentBlockhash ? 'Failed' : null, unitsConsumed: units },
      }),
    getLatestBlockhash: () =>
      answer({
        context: { slot: 1n },
        value: { blockhash: NO_LIFETIME.blockhash, lastValidBlockHeight: 130n },
      }),
    getBlockHeight: () => answer(height),
    getMultipleAccounts: () => answer({ context: { slot: 1n }, value: [null] }),
  }
  const client = { rpc, nodes: [rpc] }
  return stub<SolanaParts>({
    client: { ...client, agreed: client },
    settings: {
      program: addressOf(5),
      vault: addressOf(6),
      attester: attester.address,
      feePayers,
      priorityPrice: { floor: 1n, cap: 1_000_000n },
    },
    ringOf: () => RING,
    addresses: { inputOf: async () => addressOf(7) },
    facts: {
      rent: async () => rent,
      tokenOf: async (mint: string) => (mint === NATIVE_SOL ? NATIVE_TOKEN : token),
      priorityPrice: async () => 1n,
      priceUpTo: async () => 1n,
      async unitsOf(shape: string, measure: () => Promise<number | undefined>) {
        const found = known.get(shape) ?? (await measure())
        if (found !== undefined) known.set(shape, found)
        return found
      },
    },
  })
}

test.each([
  [90n, '90'],
  [undefined, '0'],
])('the input of a swap that is valid until %s is planned until %s', async (lastValid, expected) => {
  const swap = stub<Swap>({ signature: 'signed', op: stub<Op>({ method: 'transaction' }), lastValid })

  // 60,000 units and two signatures, and the rent of a large token account.
  expect(await planInput(partsWith(), swap)).toEqual({
    kind: 'input',
    signedTransaction: 'signed',
    lastValid: expected,
    maxCostLamports: '70003',
  })
})

const opTo = (recipient: string, createsAccount: boolean) =>
  stub<Op>({
    deliveryHash: HASH,
    recipient,
    createsAccount,
    outputToken: token.mint,
    quotedOutput: 5n,
    fillDeadline: 1_000,
    minOutput: 4n,
    destinationChain: 7,
    round: 1n,
    position: 2n,
  })

test('a delivery is limited by its measured units, with those of a new account by its own address', async () => {
  const people = Array.from({ length: 40 }, (_, index) => addressOf(100 + index))
  const added = await Promise.all(people.map((person) => accountUnits(person, token)))
  const near = added.findIndex((units) => units > 0)
  const far = added.findIndex((units) => units > (added[near] ?? 0))
  const more = (added[far] ?? 0) - (added[near] ?? 0)
  const parts = partsWith()
  const unitsTo = async (index: number, createsAccount: boolean) =>
    (await planDelivery(parts, opTo(people[index] ?? '', createsAccount))).units

  expect(await unitsTo(far, false)).toBe(unitsWithMargin(20_000))
  expect(await unitsTo(near, false)).toBe(unitsWithMargin(20_000))
  expect(await unitsTo(near, true)).toBe(unitsWithMargin(20_000))
  expect(await unitsTo(far, true)).toBe(unitsWithMargin(20_000 + more))
})

test('a delivery that fails in its simulation has the usual limit', async () => {
  const plan = await planDelivery(partsWith({ isFailing: true }), opTo(addressOf(9), true))

  expect(plan).toEqual({
    kind: 'deliver',
    id: HASH,
    to: addressOf(9),
    mint: token.mint,
    amount: '5',
    fillDeadline: 1_000,
    order: { ring: RING, index: String((1n << 32n) + 2n), destinationChain: '7', minOutput: '4' },
    createsAccount: true,
  })
})

const op = {
  hash: HASH,
  wallet: addressOf(8),
  locker: feePayers.input,
  refundDeadline: 1_000,
  inputToken: NATIVE_SOL,
  inputAmount: 5n,
}

test('an attested transaction is used while a majority that is behind has 30 blocks left', async () => {
  const text = await attestPayout(partsWith(), attester, { kind: 'claim', op })
  const planAt = (height: bigint) => planPayout(partsWith({ height }), { kind: 'claim', op }, text)

  expect(await planAt(68n)).toEqual({ kind: 'claim', attested: text })
  expect(await planAt(69n)).toBeUndefined()
})

test('only what the attester signed for this claim or refund is used', async () => {
  const text = await attestPayout(partsWith(), attester, { kind: 'claim', op })
  const plan = (signed: string) => planPayout(partsWith(), { kind: 'refund', op }, signed)

  await expect(plan(text)).rejects.toThrow('The attester did not sign this refund')
  await expect(plan('none')).rejects.toThrow('The attester did not sign this refund')
})

test('a claim may cost more the nearer its deadline is, up to a hundred times the cap', () => {
  const boundAt = (seconds: number) => claimBound({ cap: 10n }, 10_000, seconds)

  expect([0, 6_400, 8_200, 10_000, 11_000].map(boundAt)).toEqual([10n, 10n, 505n, 1_000n, 1_000n])
})
