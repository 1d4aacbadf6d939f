import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Sent } from '../chain.ts'
import type { SolanaBlock } from './heads.ts'
import type { SolanaParts } from './parts.ts'
import { readOutcomes } from './signing.ts'

type Status = { slot: bigint; confirmationStatus: 'processed' | 'confirmed' | 'finalized' }

/** Nodes that know these transactions, and have finalized these heights. */
function nodesWith(statuses: Readonly<Record<string, Status>>, heights: readonly bigint[]): SolanaParts {
  const answer = <Value>(value: Value) => ({ send: async () => value })
  const rpc = {
    getSignatureStatuses: (hashes: readonly string[]) =>
      answer({ value: hashes.map((hash) => (statuses[hash] ? { err: null, ...statuses[hash] } : null)) }),
  }
  const nodes = heights.map((blockHeight) => ({ getEpochInfo: () => answer({ blockHeight }) }))
  return stub<SolanaParts>({ client: { agreed: { rpc }, nodes } })
}

/** The final slot is 100, at height 90. */
const hard: SolanaBlock = { number: 100n, height: 90n, hash: '0x', seconds: 0, commitment: 'finalized' }

const sent = (lastValid?: bigint) => ({ txHash: 'tx', ...(lastValid !== undefined && { lastValid }) }) as Sent

type Case = [
  string,
  { status?: Status; lastValid?: bigint; heights?: bigint[] },
  'final' | 'unmined' | 'open',
]

const at = (slot: bigint, confirmationStatus: Status['confirmationStatus'] = 'finalized') => ({
  status: { slot, confirmationStatus },
})

test.each<Case>([
  ['landed in the final slot', { ...at(100n), lastValid: 95n }, 'final'],
  ['landed before the final slot', { ...at(99n), lastValid: 95n }, 'final'],
  ['became final after the final slot was read', { ...at(101n), lastValid: 95n }, 'open'],
  ['is confirmed and not final', { ...at(99n, 'confirmed'), lastValid: 95n }, 'open'],
  ['is confirmed, and past its last height', { ...at(99n, 'confirmed'), lastValid: 80n }, 'open'],
  ['is unknown, at its last valid height', { lastValid: 90n }, 'unmined'],
  [
    'is unknown, at its last valid height, and nodes are past it',
    { lastValid: 90n, heights: [95n] },
    'unmined',
  ],
  ['is unknown, past its last valid height', { lastValid: 89n }, 'final'],
  ['is unknown, and few nodes are past that height', { lastValid: 89n, heights: [89n, 89n, 90n] }, 'unmined'],
  ['is unknown, and most nodes are past that height', { lastValid: 89n, heights: [89n, 90n, 90n] }, 'final'],
  ['is unknown, and has no last height', {}, 'final'],
])('a transaction that %s', async (_, { status, lastValid, heights = [90n] }, outcome) => {
  const parts = nodesWith(status ? { tx: status } : {}, heights)
  const each = sent(lastValid)

  const { final, unmined } = await readOutcomes(parts, [each], hard)

  expect([final, unmined]).toEqual([outcome === 'final' ? [each] : [], outcome === 'unmined' ? [each] : []])
})

test('several expired transactions need a majority of nodes past the last height', async () => {
  const [early, late] = [sent(80n), { ...sent(89n), txHash: 'other' }]

  for (const several of [
    [early, late],
    [late, early],
  ]) {
    const { final } = await readOutcomes(nodesWith({}, [85n, 89n]), several, hard)
    expect(final).toEqual([])
  }
})
