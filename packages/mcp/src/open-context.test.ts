import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stub } from '@geoswap/protocol/test/stub'
import type { Context } from '@geoswap/wallet/context'
import { addressOf, deriveKey } from '@geoswap/wallet/keys'
import { openJournal } from '@geoswap/wallet/store/journal'
import { openWalletFiles } from '@geoswap/wallet/store/wallet-files'
import { afterAll, expect, test } from 'vitest'
import { openMcpContext } from './open-context.ts'

const home = mkdtempSync(join(tmpdir(), 'geoswap-open-'))
afterAll(() => rmSync(home, { recursive: true }))

const service = { url: 'http://127.0.0.1:1', apiKey: 'key' }
const evm = await addressOf(deriveKey('evm', 'key'))
const solana = await addressOf(deriveKey('solana', 'key'))

/** A machine without wallets, with or without a local network. */
function machine({ isLocal = false, hasService = true } = {}) {
  const notes: string[] = []
  const local = isLocal ? { apiKey: 'key' } : undefined
  const context = {
    ...{ home, mcp: {}, config: { read: () => ({}) }, seen: {}, passphrase: 'secret' },
    settings: { service: hasService ? service : undefined, local, rpcUrls: {}, contracts: {} },
    terminal: { note: (line: string) => notes.push(line), progress: () => {} },
    wallets: openWalletFiles(join(home, 'wallets')),
    journal: openJournal(join(home, 'journal')),
  }
  return { notes, context: stub<Context>(context) }
}

const open = (context: Context, isReadOnly: boolean, flags = {}) =>
  openMcpContext(context, { isReadOnly, flags })

test('a server with wallets unlocks them, forgets the passphrase and logs its limits', async () => {
  const { context, notes } = machine({ isLocal: true })

  const mcp = await open(context, false, { maxSwapUsd: '5', maxDayUsd: '6', confirmAboveUsd: '1' })

  expect([...(mcp.context.unlocked?.keys() ?? [])]).toEqual(['evm local', 'solana local'])
  expect(mcp.context.passphrase).toBeUndefined()
  expect([...mcp.rules.recipients]).toEqual([evm, solana])
  expect(notes).toEqual([
    `geoswap mcp: local ${evm}, local ${solana}: 5.00 USD a swap, 6.00 USD in 24 hours, to be confirmed above 1.00 USD`,
  ])
})

test('a server that only reads needs no wallet and unlocks none', async () => {
  const without = machine()
  const local = machine({ isLocal: true })

  expect((await open(without.context, true)).wallets).toEqual([])
  expect((await open(local.context, true)).context.unlocked).toBeUndefined()
  expect([...without.notes, ...local.notes]).toEqual(['geoswap mcp: reads only', 'geoswap mcp: reads only'])
})

test.each<[string, ReturnType<typeof machine>, object, string]>([
  ['a wallet', machine(), {}, 'NO_WALLET'],
  ['a service', machine({ isLocal: true, hasService: false }), {}, 'NO_SERVICE'],
  ['limits that can be read', machine({ isLocal: true }), { maxDayUsd: 'much' }, 'USAGE'],
])('a server does not start without %s', async (_, { context }, flags, code) => {
  await expect(open(context, false, flags)).rejects.toMatchObject({ code })
})
