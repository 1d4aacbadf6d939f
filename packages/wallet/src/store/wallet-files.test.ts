import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getBase58Encoder } from '@solana/kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addressOf, createKey, formatKey, parseKey } from '../keys.ts'
import { openWalletFiles, type WalletFiles } from './wallet-files.ts'

const PASSPHRASE = 'correct horse'
let folder: string
let wallets: WalletFiles
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'geoswap-wallets-'))
  wallets = openWalletFiles(folder)
})
afterEach(() => rmSync(folder, { recursive: true }))

const fileOf = (name: string) => join(folder, `${name}.json`)

test.each(['evm', 'solana'] as const)(
  'a key of %s is stored encrypted and can be read back',
  async (family) => {
    const key = createKey(family)

    const wallet = await wallets.add('bot', key, PASSPHRASE)

    expect(wallets.list()).toEqual([wallet])
    expect(await wallets.unlock(wallet, PASSPHRASE)).toEqual({ family, secret: new Uint8Array(key.secret) })
    const text = readFileSync(fileOf('bot'), 'utf8')
    const forms = [
      await formatKey(key),
      Buffer.from(key.secret).toString('hex'),
      Buffer.from(key.secret).toString('base64'),
    ]
    expect(forms.filter((form) => text.includes(form))).toEqual([])
    expect(text).not.toContain(PASSPHRASE)
    expect(statSync(fileOf('bot')).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o077).toBe(0)
  },
)

test('WRONG_PASSPHRASE for any other passphrase, and for a file with a changed address', async () => {
  const bot = await wallets.add('bot', createKey('evm'), PASSPHRASE)
  const other = await addressOf(createKey('evm'))

  await expect(wallets.unlock(bot, 'incorrect horse')).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' })
  writeFileSync(fileOf('bot'), readFileSync(fileOf('bot'), 'utf8').replace(bot.address, other))
  await expect(wallets.unlock(bot, PASSPHRASE)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' })
})

test('WALLET_EXISTS: a wallet is never replaced', async () => {
  const { address } = await wallets.add('bot', createKey('evm'), PASSPHRASE)

  const again = wallets.add('bot', createKey('evm'), PASSPHRASE)

  await expect(again).rejects.toMatchObject({ code: 'WALLET_EXISTS' })
  expect(wallets.find('bot')).toMatchObject({ address })
})

test.each(['../bot', 'a/b', '', '0x12', 'local', 'a'.repeat(33)])(
  'a wallet cannot be called "%s"',
  async (name) => {
    await expect(wallets.add(name, createKey('evm'), PASSPHRASE)).rejects.toMatchObject({ code: 'USAGE' })
  },
)

test.each(['evm', 'solana'] as const)('an exported key of %s can be imported', async (family) => {
  const key = createKey(family)

  expect(await parseKey(` ${await formatKey(key)}\n`)).toEqual({ family, secret: new Uint8Array(key.secret) })
})

test('a keypair file of solana-keygen is imported', async () => {
  const key = createKey('solana')
  const pair = [...key.secret, ...getBase58Encoder().encode(await addressOf(key))]

  expect(await parseKey(JSON.stringify(pair))).toMatchObject({ family: 'solana' })
  await expect(parseKey(JSON.stringify(pair.with(63, 1 ^ (pair[63] ?? 0))))).rejects.toMatchObject({
    code: 'BAD_KEY',
  })
})

test.each(['', 'word '.repeat(12), '0x1234', '[1,2,3]', '[300]'])(
  'BAD_KEY for "%s", which is not repeated',
  async (text) => {
    const refusal = await parseKey(text).catch((error) => error)

    expect(refusal).toMatchObject({ code: 'BAD_KEY' })
    expect(refusal.message).toBe('This is not a private key.')
  },
)
