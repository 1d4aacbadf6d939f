import { beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import {
  insertTestSwap,
  lockTestSwap,
  moveTestSwap,
  settleTestSwap,
  type TestSwap,
} from '../../../test/support/swaps.ts'
import { type Attested, isRefundable } from '../../chains/attested.ts'
import type { Block, Chain, Delivered, Heads, LockRef, LockState, PaidOp } from '../../chains/chain.ts'
import { insertAttestation, settleOutcomes } from '../../store/attestations.ts'
import { findSwaps } from '../../store/swaps.ts'
import { type CustodyOf, termsOfOp } from '../../swap/op-terms.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { type AttestDeps, attestAll } from './attest.ts'

const database = useTestDatabase()
beforeEach(() =>
  database.pool.query(
    `delete from attestations; delete from signed_outcomes; delete from attempt_swaps;
     delete from swaps; delete from ops`,
  ),
)

const query = async (sql: string, values: unknown[] = []) => (await database.pool.query(sql, values)).rows

const addressOf = (digit: string): `0x${string}` => `0x${digit.repeat(40)}`
const custodyOf: CustodyOf = (chainId) => ({ escrow: addressOf(`${chainId % 10}`), vault: addressOf('9') })

/** Stores terms that a wallet could have signed, with their hashes. */
async function signTerms(swap: TestSwap, position = 0): Promise<void> {
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(addressOf)
  const ofSwap = 'from swaps s where s.op_id = ops.id and s.id = $1'
  await query(
    `update ops set wallet = $2, input_token = $3, output_token = $4, recipient = $5, locker = $6, position = $7,
            round = 1, op_deadline = 100, fill_deadline = 200, refund_deadline = 300 ${ofSwap}`,
    [swap.swapId, a, b, c, d, e, position],
  )
  await query('update swaps set wallet = $2, input_token = $3, locker = $4 where id = $1', [
    swap.swapId,
    a,
    b,
    e,
  ])
  const { hash, deliveryHash } = termsOfOp(custodyOf, await opOf(swap))
  await query(`update ops set hash = $2, delivery_hash = $3 ${ofSwap}`, [swap.swapId, hash, deliveryHash])
}

async function opOf({ swapId }: TestSwap): Promise<Op> {
  const [swap] = await findSwaps(database.pool, [swapId])
  if (!swap) throw new Error('Swap not found')
  return swap.op
}

async function propose(kind: 'claim' | 'refund', swaps: readonly TestSwap[], validUntil?: number) {
  const swapIds = swaps.map(({ swapId }) => swapId)
  const terms = { chainId: 31_337, kind, swapIds, ...(validUntil !== undefined && { validUntil }) }
  await insertAttestation(database.pool, terms)
}

/** A finally delivered swap with a minimum of 980, whose claim is proposed. */
async function delivered(position = 0): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await settleTestSwap(database.pool, swap)
  await query('update swaps set origin_final = true, delivery_final = true where id = $1', [swap.swapId])
  await signTerms(swap, position)
  await propose('claim', [swap])
  return swap
}

/** A swap to be refunded, with or without a signed delivery. */
async function undelivered({ isSignedFor = false, position = 0 } = {}): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await lockTestSwap(database.pool, swap)
  await query('update swaps set origin_final = true where id = $1', [swap.swapId])
  if (isSignedFor) await insertTestAttempt(database.pool, swap, 'deliver')
  const change = { refundReason: 'DELIVERY_EXPIRED', proof: { kind: 'neverSigned' } } as const
  await moveTestSwap(database.pool, swap, 'deliveryImpossible', change)
  await signTerms(swap, position)
  await propose('refund', [swap], 4_600)
  return swap
}

const MINE = 'mine'

/** The head is block 12 at 1,000 seconds, the final block is 9. */
const blockAt = (number: bigint): Block => ({ number, height: number, hash: '0x', seconds: 1_000 })
const heads: Heads = { head: blockAt(12n), settle: blockAt(11n), hard: blockAt(9n) }

type Seen = Partial<Delivered> & {
  lock?: LockState
  isUndelivered?: boolean
  isOver?: boolean
  isVerified?: boolean
  isSilent?: boolean
  members?: string[]
}

const toMap = <Item, Value>(items: readonly Item[], hashOf: (item: Item) => string, value: Value) =>
  new Map(items.map((item) => [hashOf(item), value]))

/** Runs one sweep of an attester whose nodes show this. Returns its messages and signatures. */
async function attest({ lock = 'locked', isUndelivered = true, isOver = true, ...seen }: Seen = {}) {
  const said: string[] = []
  const chain: Partial<Chain> = {
    readMaxClaims: async () => 20,
    readHeads: async () => heads,
    readLocks: async (ops: readonly LockRef[], at) =>
      at.number === 9n ? toMap(ops, ({ hash }) => hash, lock) : new Map(),
    findDeliveries: async (paid: readonly PaidOp[]) =>
      seen.amount === undefined
        ? new Map()
        : toMap(paid, ({ op }) => op.hash, { txHash: '0x', block: 1n, ...seen } as Delivered),
    readUndelivered: async (ops: readonly Op[], at) => {
      if (seen.isSilent) throw new Error('silent')
      return new Set(isUndelivered && at.number === 9n ? ops.map(({ hash }) => hash) : [])
    },
    isDeliveryOver: (_op: Op, at: Block) => isOver && at.number === 9n,
    readAttesters: async () => ({ members: seen.members ?? [MINE], threshold: 1 }),
  }
  const deps = {
    pool: database.pool,
    chains: {
      of: () => ({
        chain,
        gate: { isOpen: seen.isVerified ?? true },
        attestations: {
          sign: async (signer: string, { kind, validUntil }: Attested) =>
            `${kind} by ${signer} ${validUntil ?? ''}`,
        },
      }),
    },
    isRefundable: (swap: Swap) =>
      isRefundable({ custodyOf, originOf: () => ({ isSigned: async () => true }) }, swap),
    signers: [MINE],
    events: {
      onAttested: (kind: string, swapIds: readonly string[]) => said.push(`${kind} ${swapIds.join()}`),
      onRefused: (_swap: unknown, why: string) => said.push(why),
      onPostponed: (_swap: unknown, why: string) => said.push(`not yet: ${why}`),
    },
  }
  await attestAll(stub<AttestDeps>(deps))
  const rows = await query('select signature from attestation_signatures where signature is not null')
  return { said, signed: rows.map(({ signature }) => signature) }
}

const claimed = ['claim by mine ']

test('a delivery of the signed minimum in a final block is claimed, once', async () => {
  const { swapId } = await delivered()

  expect(await attest({ amount: 980n, block: 9n })).toEqual({ said: [`claim ${swapId}`], signed: claimed })
  expect(await attest({ amount: 980n, block: 9n })).toEqual({ said: [], signed: claimed })
})

test.each<[string, Seen]>([
  ['pays less than the signed minimum', { amount: 979n, block: 9n }],
  ['is above the final block', { amount: 980n, block: 10n }],
  ['is missing', {}],
  ['paid for an input that is not locked', { amount: 980n, block: 9n, lock: 'none' }],
  ['paid for a refunded input', { amount: 980n, block: 9n, lock: 'refunded' }],
])('a delivery that %s is not claimed', async (_, seen) => {
  await delivered()

  expect(await attest(seen)).toEqual({ said: [], signed: [] })
})

test('a refund is signed for the proposed time', async () => {
  const { swapId } = await undelivered()

  expect(await attest()).toEqual({ said: [`refund ${swapId}`], signed: ['refund by mine 4600'] })
})

test('a refund that would be valid for more than two hours is not signed, and its swap is named', async () => {
  const { swapId } = await undelivered()
  await query('update attestations set valid_until = 8201')

  expect(await attest()).toEqual({ said: ['its signature would be valid for too long'], signed: [] })
  expect(await query('select unproven from attestation_signatures')).toEqual([{ unproven: [swapId] }])

  await query('update attestations set valid_until = 8200')
  expect(await attest()).toEqual({ said: [`refund ${swapId}`], signed: ['refund by mine 8200'] })
})

test('a refund without an expiry, or of several ops, is not signed', async () => {
  const [first, second] = [await undelivered(), await undelivered({ position: 1 })]
  await query('delete from attestations')
  await propose('refund', [first])
  await propose('refund', [first, second], 4_600)

  const why = 'a refund has one op and an expiry'
  expect(await attest()).toEqual({ said: [why, why], signed: [] })
})

test('no claim is signed of a swap that is to be refunded, though a delivery is seen', async () => {
  const swap = await undelivered()
  await query('delete from attestations')
  await propose('claim', [swap])

  expect(await attest({ amount: 980n, block: 9n })).toEqual({ said: [], signed: [] })
})

test('no refund is signed of a swap that was delivered, though it is proposed', async () => {
  const swap = await delivered()
  await query('delete from attestations')
  await propose('refund', [swap], 4_600)

  expect(await attest({ amount: 980n, block: 9n })).toEqual({ said: [], signed: [] })
})

test.each(['claim', 'refund'] as const)(
  'a proposed %s of swaps that are gone is passed over',
  async (kind) => {
    await propose(kind, [{ swapId: 'swp_gone', accountId: '' }], 4_600)

    expect(await attest({ amount: 980n, block: 9n })).toEqual({ said: [], signed: [] })
  },
)

test('nothing is signed for an escrow that has other attesters', async () => {
  await delivered()

  expect(await attest({ amount: 980n, block: 9n, members: ['other'] })).toEqual({ said: [], signed: [] })
})

test('no refund is signed of a swap that may still be delivered', async () => {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await lockTestSwap(database.pool, swap)
  await signTerms(swap)
  await propose('refund', [swap], 4_600)

  expect(await attest()).toEqual({ said: [], signed: [] })
})

test('no refund is signed after a claim, whatever the chains show', async () => {
  const swap = await undelivered()
  await settleOutcomes(database.pool, 'claim', [(await opOf(swap)).hash])

  expect(await attest()).toEqual({ said: ['a claim was attested before'], signed: [] })
})

test('a batch is signed whole or not at all, and the swaps that hold it up are named', async () => {
  const [first, second] = [await delivered(1), await delivered(2)]
  await query('delete from attestations')
  await propose('claim', [first, second])
  await settleOutcomes(database.pool, 'refund', [(await opOf(first)).hash])

  const { said, signed } = await attest({ amount: 980n, block: 9n })

  expect({ said, signed }).toEqual({ said: ['a refund was signed before'], signed: [] })
  expect(await query('select unproven from attestation_signatures')).toEqual([{ unproven: [first.swapId] }])
})

test('no claim is signed after a refund', async () => {
  const swap = await delivered()
  await settleOutcomes(database.pool, 'refund', [(await opOf(swap)).hash])

  const said = ['a refund was signed before']
  expect(await attest({ amount: 980n, block: 9n })).toEqual({ said, signed: [] })
})

test.each<[string, Seen, string[]]>([
  ['the vault paid it', { isUndelivered: false }, ['the vault shows a delivery']],
  ['its input is not locked', { lock: 'none' }, []],
  ['its input was claimed', { lock: 'claimed' }, []],
])('an input is not refunded while %s', async (_, seen, said) => {
  await undelivered()

  expect(await attest(seen)).toEqual({ said, signed: [] })
})

test('an input without a signed delivery is refunded, also before deliveries are over', async () => {
  const { swapId } = await undelivered()

  expect((await attest({ isOver: false })).said).toEqual([`refund ${swapId}`])
})

test('an input is not refunded while a signed delivery may land, but once deliveries are over', async () => {
  const swap = await undelivered({ isSignedFor: true })

  expect((await attest({ isOver: false })).said).toEqual(['not yet: a signed delivery may still land'])
  expect((await attest({ isOver: true })).said).toEqual([`refund ${swap.swapId}`])
})

test('nothing is refunded before its destination was verified', async () => {
  await undelivered()

  await expect(attest({ isVerified: false })).rejects.toThrow('Chain 31338 was not verified yet')
  expect(await query('select 1 from attestation_signatures where signature is not null')).toEqual([])
})

test('an unreachable destination is tolerated only if the records show that no delivery was signed', async () => {
  const signedFor = await undelivered({ isSignedFor: true })
  await expect(attest({ isSilent: true })).rejects.toThrow('silent')

  await query('delete from attempt_swaps')
  await query('update swaps set log_lost = true')
  await expect(attest({ isSilent: true })).rejects.toThrow('silent')

  await query('update swaps set log_lost = false')
  expect((await attest({ isSilent: true })).said).toEqual([`refund ${signedFor.swapId}`])
})

test.each([
  ['claimed', () => delivered()],
  ['refunded', () => undelivered()],
])('an input whose stored terms differ from the signed ones is not %s', async (_, insert) => {
  await insert()
  await query('update ops set recipient = $1', [addressOf('f')])

  const { said, signed } = await attest({ amount: 980n, block: 9n })

  expect(said).toEqual(['the stored terms differ from the signed ones'])
  expect(signed).toEqual([])
})
