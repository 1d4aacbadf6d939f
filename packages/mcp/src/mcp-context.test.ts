import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { stub } from '@geoswap/protocol/test/stub'
import type { Side } from '@geoswap/wallet/catalog'
import { type Attempt, currentOwner, standingOf } from '@geoswap/wallet/store/journal'
import type { ChosenWallet } from '@geoswap/wallet/wallets'
import { expect, test } from 'vitest'
import { attendedBy, choosePayer, type McpContext, openCall } from './mcp-context.ts'

const owner = currentOwner()
const running = new Set(['at-it'])
const isAttended = attendedBy(running)
const standing = (attempt: object) => standingOf({ owner, ...attempt } as Attempt, isAttended)

test('an unanswered submission is continued by its own server once its call is over', () => {
  expect(standing({ id: 'at-it', stage: 'submitting' })).toBe('busy')
  expect(standing({ id: 'over', stage: 'submitting' })).toBe('unknown')
})

test('the service is asked about a swap that no call follows any more', () => {
  expect(standing({ id: 'at-it', stage: 'submitted' })).toBe('busy')
  expect(standing({ id: 'over', stage: 'submitted' })).toBe('ask')
})

test('an attempt before its submission belongs to the call that began it', () => {
  expect(standing({ id: 'new', stage: 'preparing' })).toBe('busy')
  expect(standing({ id: 'new', stage: 'built' })).toBe('busy')
})

test('the attempt of a dead process is continued, or the service is asked about it', () => {
  // No process has this id: it is above the Linux maximum.
  const dead = { pid: 2 ** 22 + 1, startedAt: '1' }

  expect(standing({ id: 'over', stage: 'submitting', owner: dead })).toBe('unknown')
  expect(standing({ id: 'at-it', stage: 'submitted', owner: dead })).toBe('ask')
})

test('a swap that another living server submitted is left to it', () => {
  const file = `/proc/${process.ppid}/stat`
  const stat = existsSync(file) ? readFileSync(file, 'utf8') : ''
  // Its fields after the name of the command, as in proc(5).
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''

  expect(standing({ id: 'over', stage: 'submitted', owner: { pid: process.ppid, startedAt } })).toBe('busy')
})

const wallets: ChosenWallet[] = [
  { name: 'sun', family: 'solana', address: 'S' },
  { name: 'bot', family: 'evm', address: 'B' },
  { name: 'cat', family: 'evm', address: 'C' },
]
const alpha = { chain: { family: 'evm', name: 'alpha' } } as Side

test('the first wallet that fits the chain pays, or the named one', () => {
  expect(choosePayer({ wallets }, alpha).name).toBe('bot')
  expect(choosePayer({ wallets }, alpha, 'cat').name).toBe('cat')
})

test.each([
  ['sun', wallets, 'No wallet sun can pay on alpha.', 'There are: bot, cat.'],
  [undefined, [], 'No wallet of this server can pay on alpha.', 'There are: none.'],
])('a wallet that cannot pay there is refused: %s', (named, some, message, advice) => {
  expect(() => choosePayer({ wallets: some }, alpha, named)).toThrow(
    expect.objectContaining({ code: 'NO_WALLET', message, advice: expect.stringContaining(advice) }),
  )
})

/** A call of a server at a terminal for people, whose journal keeps nothing. */
function open() {
  const abort = new AbortController()
  const reports: string[] = []
  const record = (attempt: object, change: object) => ({ ...attempt, ...change })
  const context = {
    home: tmpdir(),
    settings: { service: { url: 'http://service', apiKey: 'key' }, rpcUrls: {}, contracts: {} },
    terminal: { json: false, isInteractive: true },
    journal: { record },
  }
  const call = { signal: abort.signal, report: (line: string) => void reports.push(line), ask: undefined }
  const opened = openCall(stub<McpContext>({ context }), call)
  return { ...opened, reports, cancel: () => abort.abort() }
}

test.each([
  ['nothing was begun', undefined, true],
  ['nothing was submitted', { stage: 'built' }, true],
  ['a submission is under way', { stage: 'submitting' }, false],
  ['a swap was submitted', { stage: 'submitted' }, false],
  ['a payment was sent', undefined, false],
])('a call that is cancelled while %s ends, or goes on', (when, attempt, ends) => {
  const { context, cancel } = open()
  if (attempt) context.seen.attempt = attempt as Attempt
  context.seen.isPaying = when === 'a payment was sent'
  expect(context.interrupts.signal.aborted).toBe(false)

  cancel()

  expect(context.interrupts.signal.aborted).toBe(ends)
})

test('a call asks and prints nothing at the terminal of the server, and reports instead', () => {
  const { context, reports } = open()

  context.terminal.note('noted')
  context.terminal.progress('seen')

  expect(context.terminal).toMatchObject({ json: true, isInteractive: false })
  expect(reports).toEqual(['noted', 'seen'])
})

test.each([
  ['built', false],
  ['submitting', false],
  ['submitted', true],
  ['ended', true],
])('the outcome of a submission is known once it is %s: %s', async (stage, isKnown) => {
  const { context, submitted } = open()
  let found = false
  void submitted.then(() => {
    found = true
  })

  context.journal.record({} as Attempt, { stage } as never)
  await new Promise(setImmediate)

  expect(found).toBe(isKnown)
})
