import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Attempt, type Order, openJournal } from '@geoswap/wallet/store/journal'
import { afterAll, afterEach, expect, test } from 'vitest'
import { openSpending } from './spending.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-spending-'))
const journal = openJournal(join(folder, 'journal'))
const open = () => openSpending(join(folder, 'spending'), journal)
const HOUR_MS = 3_600_000
const anything = () => {}

afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true }))

const SIDE = { chainId: 1, chain: 'alpha', token: 'token', symbol: 'T', decimals: 6 }

function begin(amount: string): Attempt {
  const wallet = { name: 'bot', address: 'address' }
  const order: Order = {
    service: 'service',
    wallet,
    from: SIDE,
    to: SIDE,
    recipient: 'address',
    tradeType: 'exactInput',
    amount,
  }
  const attempt = journal.begin(order, undefined, undefined)
  if (!attempt) throw new Error('the order is taken')
  return attempt
}

const end = (attempt: Attempt, outcome: 'settled' | 'failed' | 'refunded' | 'notSubmitted' | 'lost') =>
  journal.record(attempt, { stage: 'ended', outcome, endedAt: new Date().toISOString() })

test('spending survives a restart and expires after 24 hours', () => {
  const now = Date.now()
  open().add(begin('1').id, 700n, anything, now)

  expect(open().spentCents(undefined, now + 24 * HOUR_MS - 1)).toBe(700n)
  expect(open().spentCents(undefined, now + 24 * HOUR_MS)).toBe(0n)
})

test('a swap counts from before its submission until its input is known to be in the wallet', () => {
  const attempts = ['settled', 'failed', 'refunded', 'notSubmitted', 'lost'] as const
  const begun = attempts.map((outcome, index) => ({ outcome, attempt: begin(`${index}`) }))
  const { add, spentCents } = open()
  for (const { attempt } of begun) add(attempt.id, 100n, anything)
  expect(spentCents()).toBe(500n)

  for (const { attempt, outcome } of begun) end(attempt, outcome)
  expect(spentCents()).toBe(200n)
})

test('a signed swap counts until its signature expires, whatever the service reports', () => {
  const now = Date.now()
  const outcomes = ['failed', 'refunded', 'notSubmitted'] as const
  const { add, spentCents } = open()
  for (const [index, outcome] of outcomes.entries()) {
    const attempt = begin(`${index}`)
    add(attempt.id, 100n, anything, now)
    const submission = { geoOpToken: '', signature: '' }
    const lockableUntil = Math.floor(now / 1_000) + 60
    end(journal.record(attempt, { stage: 'submitting', submission, lockableUntil }), outcome)
  }

  expect(spentCents(undefined, now + 59_000)).toBe(300n)
  expect(spentCents(undefined, now + 61_000)).toBe(0n)
})

test('an attempt missing from the journal counts', () => {
  open().add('att_gone', 100n, anything)

  expect(open().spentCents()).toBe(100n)
})

test('an attempt that is requoted counts once, at its highest value, and not against itself', () => {
  const { id } = begin('1')
  const seen: bigint[] = []
  for (const cents of [300n, 500n, 400n]) open().add(id, cents, (spent) => seen.push(spent))

  expect(open().spentCents()).toBe(500n)
  expect(seen).toEqual([0n, 0n, 0n])
})

test('if two servers add at once, the second sees the first', () => {
  const seen: bigint[] = []
  const [first, second] = [begin('1').id, begin('2').id]
  open().add(second, 200n, (spent) => {
    seen.push(spent)
    if (seen.length === 1) open().add(first, 100n, anything)
  })

  expect(seen).toEqual([0n, 100n])
  expect(open().spentCents()).toBe(300n)
})

test('a refused swap is not recorded', () => {
  const refuse = () => {
    throw new Error('too much')
  }

  expect(() => open().add(begin('1').id, 100n, refuse)).toThrow('too much')
  expect(open().spentCents()).toBe(0n)
})

test('old entries are removed, but no number is used twice', () => {
  const now = Date.now()
  for (const at of [now - 50 * HOUR_MS, now - 49 * HOUR_MS, now - 48 * HOUR_MS, now])
    open().add(`att_${at}`, 1n, anything, at)

  expect(readdirSync(join(folder, 'spending')).toSorted()).toEqual(['3.json', '4.json'])
})

test.each([
  '{"attempt":"att_1"}',
  '{"attempt":"att_1","cents":"100","at":"some day"}',
  '{"attempt":"att_1","cents":"-1","at":"2026-01-02T03:04:05.678Z"}',
  '{"attempt":1,"cents":"100","at":"2026-01-02T03:04:05.678Z"}',
])('a file that holds %s does not count as zero', (content) => {
  open().add(begin('1').id, 100n, anything)
  writeFileSync(join(folder, 'spending', '1.json'), content)

  expect(() => open().spentCents()).toThrow(/has unexpected content/)
})

test('a record that another server removed meanwhile, and files that are no records, are ignored', () => {
  open().add(begin('1').id, 100n, anything)
  symlinkSync('removed', join(folder, 'spending', '2.json'))
  writeFileSync(join(folder, 'spending', 'notes.json'), '')

  expect(open().spentCents()).toBe(100n)
  open().add(begin('2').id, 100n, anything)
  expect(readdirSync(join(folder, 'spending'))).toContain('3.json')
})

test('a folder that cannot be read does not count as empty', () => {
  writeFileSync(join(folder, 'spending'), '')

  expect(() => open().spentCents()).toThrow(/ENOTDIR/)
})
