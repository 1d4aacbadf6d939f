import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Chain, Heads, Refusal } from '../chains/chain.ts'
import { offerReplacements } from '../chains/evm/fees.ts'
import type { Attempt, Role } from '../store/attempts.ts'
import { createSender, type Sender } from './sender.ts'

const database = useTestDatabase()

const block = { number: 9n, height: 9n, hash: '0x9', seconds: 90 }
const heads: Heads = { head: block, settle: block, hard: { ...block, number: 1n } }
const FEES = { maxFeePerGas: '100', maxPriorityFeePerGas: '10' }
const REQUEST = { to: '0x01', data: '0x', gas: 60_000 }

type Answer = (raw: string) => Refusal | 'silence' | undefined

/** A key of a chain that includes no transaction, with these answers from its nodes. */
async function newKey(answer: Answer, coins = 10n ** 18n) {
  const { pool } = database
  const address = `key ${crypto.randomUUID()}`
  const lease = await holdTestLane(database, address)
  const [refused, unrecorded]: [Refusal[], string[]] = [[], []]
  const chain = {
    ...{ chainId: 31_337, hasNonces: true, offerReplacements, fits: () => true },
    readTerms: async () => FEES,
    isSignedFor: async () => true,
    readOutcomes: async (_: string, open: Attempt[]) => ({
      final: [],
      consumed: [],
      unmined: newest(open),
      nextNonce: 0,
    }),
    readCoins: async () => coins,
    async sign(request: unknown, { nonce }: { nonce: number }) {
      const txHash = crypto.randomUUID()
      return { raw: `${request === REQUEST ? 'lock' : 'other'} ${nonce} ${txHash}`, txHash }
    },
    async broadcast(raw: string) {
      const [, , hash] = raw.split(' ')
      const { rowCount } = await pool.query('select 1 from tx_attempts where tx_hash = $1', [hash])
      if (rowCount === 0) unrecorded.push(raw)
      const said = answer(raw)
      if (said === 'silence') throw new Error('No answer within 5000 ms')
      return said
    },
  } as unknown as Chain
  const sender = createSender({
    pool,
    chain,
    address,
    maxInFlight: 8,
    isClaimable: () => true,
    onSent: () => {},
    onSendFault: () => {},
    onReplaced: () => {},
    onRefused: (refusal) => refused.push(refusal),
  })
  await sender.followUp(lease, heads)
  return { sender, lease, address, refused, unrecorded }
}

function newest(open: readonly Attempt[]): Attempt[] {
  return [...new Map(open.map((attempt) => [attempt.nonce, attempt])).values()]
}

async function newLocking(): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  return swap
}

async function lock({ sender, lease }: { sender: Sender; lease: Parameters<Sender['send']>[0] }) {
  const { swapId } = await newLocking()
  await sender.send(lease, heads, {
    role: 'lock',
    request: REQUEST,
    swapIds: [swapId],
    record: async () => true,
  })
}

async function recordedBy(address: string) {
  const { rows } = await database.pool.query<{
    at: string
    role: Role
    refusal: Refusal | null
    fee: string
  }>(
    `select nonce || '.' || replacement as at, role, refusal, request #>> '{terms,maxFeePerGas}' as fee
       from tx_attempts where sender = $1 order by nonce, replacement`,
    [address],
  )
  return rows
}

test('a lock that every node refuses for its wallet is cancelled at once, and others keep their nonces', async () => {
  const key = await newKey((raw) => (raw.startsWith('lock 1 ') ? 'authority' : undefined))
  for (let count = 0; count < 3; count += 1) await lock(key)

  expect(key.sender.isRefused()).toBe(true)
  await key.sender.followUp(key.lease, heads)

  expect(await recordedBy(key.address)).toMatchObject([
    { at: '0.0', role: 'lock', refusal: null },
    { at: '1.0', role: 'lock', refusal: 'authority' },
    { at: '1.1', role: 'noop', refusal: null, fee: '113' },
    { at: '2.0', role: 'lock', refusal: null },
  ])
  expect(key.sender.isRefused()).toBe(false)
  expect(key.refused).toEqual(['authority'])
  expect(key.unrecorded).toEqual([])
})

test.each(['underpriced', 'feeBelowBase', 'gasTooLow'] as const)(
  'a lock that is refused as %s gets a fee bump at once, with the same effect',
  async (refusal) => {
    const key = await newKey((raw) =>
      raw.startsWith('lock 0 ') && key?.refused.length === 0 ? refusal : undefined,
    )
    await lock(key)

    await key.sender.followUp(key.lease, heads)
    await key.sender.followUp(key.lease, heads)

    expect(await recordedBy(key.address)).toMatchObject([
      { at: '0.0', role: 'lock', refusal },
      { at: '0.1', role: 'lock', refusal: null, fee: '113' },
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
    const key = await newKey(() => answer)
    await lock(key)

    await key.sender.followUp(key.lease, heads)

    expect(await recordedBy(key.address)).toMatchObject([{ at: '0.0', role: 'lock' }])
  },
)

test('a key that cannot pay for the no-op sends none', async () => {
  const key = await newKey(() => 'authority', 0n)
  await lock(key)

  await key.sender.followUp(key.lease, heads)

  expect(await recordedBy(key.address)).toMatchObject([{ at: '0.0', role: 'lock', refusal: 'authority' }])
})

test('a request that no block has room for is not signed', async () => {
  const key = await newKey(() => undefined)
  const { pool } = database
  const chain = { chainId: 31_337, hasNonces: true, fits: () => false, readTerms: async () => FEES }
  const sender = createSender({
    pool,
    chain: chain as unknown as Chain,
    address: key.address,
    maxInFlight: 8,
    isClaimable: () => true,
    onSent: () => {},
    onSendFault: () => {},
    onReplaced: () => {},
    onRefused: () => {},
  })

  expect(await sender.fits(heads, REQUEST)).toBe(false)
  await lock({ sender, lease: key.lease })
  expect(await recordedBy(key.address)).toEqual([])
})
