import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stub } from '@geoswap/protocol/test/stub'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { addressOf, deriveKey } from '@geoswap/wallet/keys'
import { openWalletFiles } from '@geoswap/wallet/store/wallet-files'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chooseWallets, ownAddresses, unlockAll } from './open-context.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-unlock-'))
const files = openWalletFiles(join(folder, 'wallets'))
const none = openWalletFiles(join(folder, 'none'))
const key = deriveKey('evm', 'bot')
const local = { apiKey: 'key' }
const contextOf = (settings: object = {}, change: object = {}) =>
  stub<Context>({ wallets: files, settings, passphrase: 'secret', ...change })

beforeAll(() => files.add('bot', key, 'secret'))
afterAll(() => rmSync(folder, { recursive: true }))

const namesOf = async (context: Context, ...names: string[]) =>
  (await chooseWallets(context, names)).map(({ name, family }) => `${family} ${name}`)

test.each<[string, Context, string[], string[]]>([
  ['the usual one of each family that has one', contextOf(), [], ['evm bot']],
  ['none, if there is none', contextOf({}, { wallets: none }), [], []],
  ['the named ones', contextOf({ local }), ['bot'], ['evm bot']],
  ['those of the local network', contextOf({ local }), ['local'], ['evm local', 'solana local']],
  ['both', contextOf({ local }), ['bot', 'local'], ['evm bot', 'evm local', 'solana local']],
])('the wallets that may pay are %s', async (_, context, names, wallets) => {
  expect(await namesOf(context, ...names)).toEqual(wallets)
})

test('a name without a wallet is refused with the names that exist', async () => {
  await expect(namesOf(contextOf(), 'cat')).rejects.toMatchObject({
    code: 'NO_WALLET',
    advice: 'There are: bot.',
  })
  await expect(namesOf(contextOf({}, { wallets: none }), 'cat')).rejects.toMatchObject({
    advice: 'There are: none.',
  })
})

test('a default that cannot be read prevents the start', async () => {
  const broken = {
    ...files,
    find: () => undefined,
    list: () => {
      throw new UserError('FILE_DAMAGED', 'Broken.')
    },
  }

  await expect(namesOf(contextOf({}, { wallets: broken }))).rejects.toMatchObject({ code: 'FILE_DAMAGED' })
})

test('own wallets are those of the files, and of a local network its own', async () => {
  const bot = await addressOf(key)

  expect(await ownAddresses(contextOf())).toEqual([bot])
  expect(await ownAddresses(contextOf({ local }))).toEqual([
    ...[bot, await addressOf(deriveKey('evm', 'key')), await addressOf(deriveKey('solana', 'key'))],
  ])
})

test('wallets are unlocked with the passphrase, and those of a local network without', async () => {
  const sealed = await chooseWallets(contextOf(), ['bot'])
  const open = await chooseWallets(contextOf({ local }), ['local'])
  const own = (await unlockAll(contextOf(), sealed)).get('evm bot')
  const keys = await unlockAll(contextOf({ local }, { passphrase: undefined }), open)

  expect(own && (await addressOf(own))).toBe(await addressOf(key))
  expect([...keys.keys()]).toEqual(['evm local', 'solana local'])
})

test('without a passphrase, and a terminal to ask for it, no wallet is unlocked', async () => {
  const sealed = await chooseWallets(contextOf(), ['bot'])

  await expect(unlockAll(contextOf({}, { passphrase: undefined }), sealed)).rejects.toMatchObject({
    code: 'NEEDS_PASSPHRASE',
  })
})
