import { afterEach, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Chain, Heads, Refusal, Sent } from '../chains/chain.ts'
import { offerReplacements } from '../chains/evm/fees.ts'
import type { Attempt, Role } from '../store/attempts.ts'
import type { Lease } from '../store/lanes.ts'
import { createSender, type Sender } from './sender.ts'

const database = useTestDatabase()
afterEach(() => void vi.useRealTimers())

const block = { number: 9n, height: 9n, hash: '0x9', seconds: 90 }
const heads: Heads = { head: block, settle: block, hard: { ...block, number: 1n } }
const FEES = { maxFeePerGas: '100', maxPriorityFeePerGas: '10' }
const REQUEST = { to: '0x01', data: '0x', gas: 60_000 }

type Answer = (raw: string) => Refusal | 'silence' | undefined

type World = { coins?: bigint; hasNonces?: boolean; fits?: boolean; readTerms?: Chain['readTerms'] }

/** A key of a chain that includes no transaction, with these answers from its nodes. */
async function newKey(answer: Answer = () => undefined, world: World = {}) {
  const { coins = 10n ** 18n, hasNonces = true, fits = true, readTerms = async () => FEES } = world
  const { pool } = database
  const address = `key ${crypto.randomUUID()}`
  const lease = await holdTestLane(database, address)
  const [refused, unrecorded]: [Refusal[], string[]] = [[], []]
  const [sent, replaced, broadcasts, nonces]: [string[], string[], string[], (number | undefined)[]] = [
    [],
    [],
    [],
    [],
  ]
  const signing = { now: 0, most: 0 }
  const chain = stub<Chain>({
    ...{ chainId: 31_337, hasNonces, fits: () => fits, readTerms },
    offerReplacements: hasNonces ? offerReplacements : undefined,
    isSignedFor: async () => true,
    readOutcomes: async (_: string, open: Attempt[]) => ({
      final: [],
      consumed: [],
      unmined: newest(open),
      nextNonce: 0,
    }),
    readCoins: async () => coins,
    async sign(request: unknown, { nonce }: { nonce?: number }) {
      nonces.push(nonce)
      signing.now += 1
      signing.most = Math.max(signing.most, signing.now)
      await new Promise((resolve) => setImmediate(resolve))
      signing.now -= 1
      const txHash = crypto.randomUUID()
      return { raw: `${request === REQUEST ? 'lock' : 'other'} ${nonce} ${txHash}`, txHash }
    },
    async broadcast(raw: string) {
      const [, , hash] = raw.split(' ')
      const { rowCount } = await pool.query('select 1 from tx_attempts where tx_hash = $1', [hash])
      if (rowCount === 0) unrecorded.push(raw)
      broadcasts.push(raw)
      const said = answer(raw)
      if (said === 'silence') throw new Error('No answer within 5000 ms')
      return said
    },
  })
  const sender = createSender({
    pool,
    chain,
    address,
    maxInFlight: 8,
    isClaimable: () => true,
    events: {
      onSent: ({ txHash }) => sent.push(txHash),
      onSendFault: () => {},
      onReplaced: ({ by }) => replaced.push(by),
      onRefused: (refusal) => refused.push(refusal),
    },
  })
  const key = { sender, lease, address, refused, unrecorded, sent, replaced, broadcasts, nonces, signing }
  return { ...key, followUp: (by = lease) => sender.followUp(by, heads) }
}

async function newFollowedKey(answer?: Answer, world?: World) {
  const key = await newKey(answer, world)
  await key.followUp()
  return key
}

function newest(open: readonly Attempt[]): Attempt[] {
  return [...new Map(open.map((attempt) => [attempt.nonce, attempt])).values()]
}

async function newLocking(): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  return swap
}

type Key = { sender: Sender; lease: Lease }

/** Sends the lock of a new swap. */
async function lock(
  { sender, lease }: Key,
  { at = heads, record = async () => true } = {},
): Promise<boolean> {
  const { swapId } = await newLocking()
  return sender.send(lease, at, { role: 'lock', request: REQUEST, swapIds: [swapId], record })
}

async function recordedBy(address: string) {
  const { rows } = await database.pool.query<{
    at: string
    role: Role
    refusal: Refusal | null
    fee: string
    swaps: number
  }>(
    `select nonce || '.' || replacement as at, role, refusal, request #>> '{terms,maxFeePerGas}' as fee,
            (select count(*)::int from attempt_swaps where attempt_id = a.id) as swaps
       from tx_attempts a where sender = $1 order by nonce, replacement`,
    [address],
  )
  return rows
}

test('a lock that every node refuses for its wallet is cancelled at once, and others keep their nonces', async () => {
  const key = await newFollowedKey((raw) => (raw.startsWith('lock 1 ') ? 'authority' : undefined))
  for (let count = 0; count < 3; count += 1) await lock(key)

  expect(key.sender.isRefused()).toBe(true)
  await key.sender.followUp(key.lease, heads)

  expect(await recordedBy(key.address)).toMatchObject([
    { at: '0.0', role: 'lock', refusal: null },
    { at: '1.0', role: 'lock', refusal: 'authority' },
    { at: '1.1', role: 'noop', refusal: null, fee: '113', swaps: 0 },
    { at: '2.0', role: 'lock', refusal: null },
  ])
  expect(key.sender.isRefused()).toBe(false)
  expect(key.refused).toEqual(['authority'])
  expect(key.unrecorded).toEqual([])
})

test.each(['underpriced', 'feeBelowBase', 'gasTooLow'] as const)(
  'a lock that is refused as %s gets a fee bump at once, with the same effect',
  async (refusal) => {
    const key = await newFollowedKey((raw) =>
      raw.startsWith('lock 0 ') && key?.refused.length === 0 ? refusal : undefined,
    )
    await lock(key)

    await key.sender.followUp(key.lease, heads)
    await key.sender.followUp(key.lease, heads)

    expect(await recordedBy(key.address)).toMatchObject([
      { at: '0.0', role: 'lock', refusal },
      { at: '0.1', role: 'lock', refusal: null, fee: '113', swaps: 1 },
    ])
    const { rows } = await database.pool.query(
      'select distinct effect_hash from tx_attempts where sender = $1',
      [key.address],
    )
    expect(rows).toHaveLength(1)
  },
)

test.each(['silence', 'unfunded'] as const)(
  'a lock that nodes answer with %s is left unchanged',
  async (answer) => {
    const key = await newFollowedKey(() => answer)
    await lock(key)

    await key.sender.followUp(key.lease, heads)

    expect(await recordedBy(key.address)).toMatchObject([{ at: '0.0', role: 'lock' }])
  },
)

test.each([
  [1n, 0],
  [0n, 1],
])('a key that lacks %i for the no-op sends %i', async (lacking, noops) => {
  const { noop } = offerReplacements(stub<Sent>({ request: REQUEST, terms: FEES }), FEES)
  const key = await newFollowedKey(() => 'authority', { coins: noop.cost - lacking })
  await lock(key)

  await key.followUp()

  const roles = (await recordedBy(key.address)).map(({ role }) => role)
  expect(roles).toEqual(['lock', 'noop'].slice(0, noops + 1))
})

test('a request that no block has room for is not signed', async () => {
  const key = await newFollowedKey(undefined, { fits: false })

  expect(await key.sender.fits(heads, REQUEST)).toBe(false)
  expect(await lock(key)).toBe(false)
  expect(key.nonces).toEqual([])
})

test('a key sends nothing before its nonce was read', async () => {
  const key = await newKey()

  expect([key.sender.room(), key.sender.isRefused(), await lock(key)]).toEqual([0, false, false])
  await key.followUp()
  expect([key.sender.room(), await lock(key)]).toEqual([8, true])
  expect(key.sent).toHaveLength(1)
})

test('work that is outdated is not sent, a fault in its record is thrown, and both leave their nonce', async () => {
  const key = await newFollowedKey()
  const fault = new Error('Unexpected failure')

  expect(await lock(key, { record: async () => false })).toBe(false)
  await expect(lock(key, { record: () => Promise.reject(fault) })).rejects.toBe(fault)
  expect([key.sent, key.broadcasts, await recordedBy(key.address)]).toEqual([[], [], []])
  expect(await lock(key)).toBe(true)
  expect(await recordedBy(key.address)).toMatchObject([{ at: '0.0' }])
})

test.each([true, false])(
  'a lane that was lost sends nothing, on a chain with nonces: %s',
  async (hasNonces) => {
    const key = await newFollowedKey(undefined, { hasNonces })
    const lost = { ...key.lease, fence: '0' }

    expect(await lock({ sender: key.sender, lease: lost })).toBe(false)
    expect(key.broadcasts).toEqual([])
  },
)

test('a lane that was lost replaces nothing', async () => {
  const key = await newFollowedKey(() => 'authority')
  await lock(key)

  await key.followUp({ ...key.lease, fence: '0' })

  expect(await recordedBy(key.address)).toMatchObject([{ at: '0.0' }])
  expect([key.replaced, key.broadcasts.length]).toEqual([[], 1])
})

test.each([
  [true, 1, [0, 1]],
  [false, 2, [undefined, undefined]],
])('with nonces (%s) a key signs %i transactions at once, as %j', async (hasNonces, most, nonces) => {
  const { sender, lease, ...key } = await newFollowedKey(undefined, { hasNonces })
  const work = { role: 'topup', request: REQUEST, swapIds: [], record: async () => true } as const

  expect(await Promise.all([sender.send(lease, heads, work), sender.send(lease, heads, work)])).toEqual([
    true,
    true,
  ])
  expect([key.signing.most, key.nonces]).toEqual([most, nonces])
})

test('terms are read once for each head, again after a refusal, and again if they could not be read', async () => {
  const asked: string[] = []
  const fault = new Error('No answer')
  const readTerms = async ({ head }: Heads, isRefused: boolean) => {
    asked.push(`${head.hash} ${isRefused}`)
    if (asked.length === 1) throw fault
    return FEES
  }
  const key = await newFollowedKey(() => 'underpriced', { readTerms: readTerms as Chain['readTerms'] })
  const next = { ...heads, head: { ...block, hash: '0xa' } }

  await expect(lock(key)).rejects.toBe(fault)
  for (const at of [heads, heads, next]) await lock(key, { at })
  await key.sender.followUp(key.lease, next)

  expect(asked.slice(0, 4)).toEqual(['0x9 false', '0x9 false', '0xa false', '0xa true'])
})

test('bytes are broadcast again after four seconds, and a refusal is reported when it begins', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const answers: (Refusal | undefined)[] = ['unfunded', 'unfunded', undefined, 'unfunded']
  const key = await newFollowedKey(() => answers[key.broadcasts.length - 1])
  await lock(key)
  const counts: number[][] = []
  for (const ms of [4_000, 1, 4_001, 4_001]) {
    vi.advanceTimersByTime(ms)
    await key.followUp()
    counts.push([key.broadcasts.length, key.refused.length])
  }

  expect(counts).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
  ])
})
