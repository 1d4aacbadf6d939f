import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Attempt, currentOwner, type Journal, type Order, openJournal, standingOf } from './journal.ts'

const side = { chainId: 31_337, chain: 'alpha', token: '0xa', symbol: 'USDC', decimals: 6 }
const order: Order = {
  service: 'http://service',
  wallet: { name: 'bot', address: '0x1' },
  recipient: '0x1',
  amount: '10',
  from: side,
  to: { ...side, chainId: 31_338, chain: 'beta' },
  tradeType: 'exactInput',
}
const submission = { geoOpToken: 'op', signature: '0x' }
const settled = { stage: 'ended', outcome: 'settled', swapId: 'swp_1' } as const

let folder: string
let journal: Journal
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'geoswap-journal-'))
  journal = openJournal(folder)
})
afterEach(() => rmSync(folder, { recursive: true }))

function begin(last?: Attempt): Attempt {
  const attempt = journal.begin(order, last, 'http://node')
  if (!attempt) throw new Error('Somebody else was first')
  return attempt
}

describe('the journal', () => {
  test('of several processes that begin the same order, one succeeds', () => {
    const begun = Array.from({ length: 5 }, () => openJournal(folder).begin(order, undefined, undefined))

    expect(begun.filter((attempt) => attempt !== undefined)).toHaveLength(1)
    expect(journal.begin(order, journal.findLast(order), undefined)).toMatchObject({ generation: 2 })
  })

  test("finds an attempt by its id and by its swap's id, with the data for a refund", () => {
    const operation = { domain: {}, types: {}, primaryType: 'GeoOp', message: { wallet: '0x1' } }
    const built = journal.record(begin(), { stage: 'built', operation })
    journal.record(journal.record(built, { stage: 'submitting', submission }), {
      stage: 'submitted',
      swapId: 'swp_1',
    })

    const found = journal.find('swp_1')

    expect(found).toEqual(journal.find(built.id))
    expect(found).toMatchObject({ operation, rpcUrl: 'http://node', stage: 'submitted' })
    expect(found).not.toHaveProperty('submission')
  })

  test('distinguishes orders that differ in more than names', () => {
    begin()

    const renamed = { ...order, wallet: { ...order.wallet, name: 'other' } }
    expect(journal.findLast(renamed)).toBeDefined()
    expect(journal.findLast({ ...order, amount: '11' })).toBeUndefined()
    expect(journal.findLast({ ...order, recipient: '0x2' })).toBeUndefined()
    expect(journal.findLast({ ...order, tradeType: 'exactOutput' })).toBeUndefined()
  })

  test('is readable by its owner alone, and leaves no temporary files', () => {
    journal.record(begin(), { stage: 'built' })

    const [file, ...others] = readdirSync(folder)

    expect(others).toEqual([])
    expect(statSync(join(folder, file ?? '')).mode & 0o777).toBe(0o600)
  })

  test('removes attempts that ended a month ago, and no others', () => {
    const old = journal.record(begin(), { ...settled, endedAt: '2020-01-01T00:00:00.000Z' })
    const open = journal.record(begin(old), { stage: 'submitted', swapId: 'swp_2' })

    journal.begin({ ...order, amount: '11' }, undefined, undefined)

    expect(journal.find(old.id)).toBeUndefined()
    expect(journal.find(open.id)).toBeDefined()
  })
})

describe('after an attempt, a further one', () => {
  const owner = currentOwner()
  const dead = () => false
  const alive = () => true
  const at = (progress: object) => ({ ...begin(journal.findLast(order)), owner, ...progress }) as Attempt

  test.each([
    ['is allowed: it ended', settled, alive, 'free'],
    ['is refused: a live process works on it', { stage: 'preparing' }, alive, 'busy'],
    ['is refused: a live process waits for its end', { stage: 'submitted', swapId: 'swp_1' }, alive, 'busy'],
    ['is allowed: a crash left nothing', { stage: 'built' }, dead, 'free'],
    ['is refused: a crash left a submission', { stage: 'submitting', submission }, dead, 'unknown'],
    ['depends on the status of its swap', { stage: 'submitted', swapId: 'swp_1' }, dead, 'ask'],
  ])('%s', (_title, progress, isOwnerAlive, standing) => {
    expect(standingOf(at(progress), isOwnerAlive)).toBe(standing)
  })

  test('of this process is busy, of an ended process it is not', () => {
    expect(standingOf(at({ stage: 'preparing' }))).toBe('busy')
    const ended = { pid: owner.pid, startedAt: 'long ago' }
    expect(standingOf({ ...at({ stage: 'preparing' }), key: 'other', owner: ended })).toBe('free')
  })
})
