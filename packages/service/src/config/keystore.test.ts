import crypto from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, expect, test, vi } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import type { KeyRole } from '../chains/families.ts'
import { runCommand } from '../command.ts'
import { keys, writeKey } from '../operate/keys.ts'
import {
  createKeyFile,
  decryptSecret,
  type EncryptedSecret,
  encryptSecret,
  listKeys,
  openKeys,
  prepareKeys,
} from './keystore.ts'
import { loadConfig } from './load.ts'

const PASSPHRASE = 'a passphrase of the test'
const folder = mkdtempSync(join(tmpdir(), 'geoswap-keystore-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function generate(command: string, passphrase = PASSPHRASE) {
  const lines: string[] = []
  const output = {
    out: (text: string) => void lines.push(text),
    hint: (text: string) => void lines.push(text),
  }
  const env = { GEOSWAP_KEYSTORE_PASSPHRASE: passphrase }
  const code = await runCommand(output, () => keys(['generate', ...command.split(' ')], env, output))
  return { code, lines }
}

/** Uses the cheapest scrypt cost, since the tests do not concern brute force. */
function make(role: KeyRole, into = folder): string {
  const { file, address } = createKeyFile(role, PASSPHRASE, { n: 2 ** 10, r: 8, p: 1 })
  writeFileSync(join(into, `${role}-${address}.json`), JSON.stringify(file), { mode: 0o600 })
  return address
}

test('a key file written by web3.js can be opened', () => {
  const example: EncryptedSecret = {
    version: 3,
    id: '04e9bcbb-96fa-497b-94d1-14df4cd20af6',
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '2885df2b63f7ef247d753c82fa20038a' },
      ciphertext: 'a1c25da3ecde4e6a24f3697251dd15d6208520efc84ad97397e906e6df24d251',
      kdf: 'scrypt',
      kdfparams: {
        dklen: 32,
        n: 262_144,
        r: 8,
        p: 1,
        salt: '4531b3c174cc3ff32a6a7a85d6761b410db674807b2d216d022318ceee50be10',
      },
      mac: 'b8b010fff37f9ae5559a352a185e86f9b9c1d7f7a9f1bd4e82a5dd35468fc7f6',
    },
  }

  const secret = decryptSecret(example, 'test!')

  expect(secret).toBe('0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318')
})

test('a modified file, or one that requires too much memory, is not opened', () => {
  const secret = `0x${'07'.repeat(32)}` as const
  const sealed = encryptSecret(secret, PASSPHRASE, { n: 2 ** 10, r: 8, p: 1 })
  const change = (crypto: object) => ({ ...sealed, crypto: { ...sealed.crypto, ...crypto } })

  expect(decryptSecret(sealed, PASSPHRASE)).toBe(secret)
  expect(decryptSecret(sealed, 'another passphrase')).toBeUndefined()
  expect(decryptSecret(change({ ciphertext: '00'.repeat(32) }), PASSPHRASE)).toBeUndefined()
  const greedy = { ...sealed.crypto.kdfparams, n: 2 ** 30 }
  expect(() => decryptSecret(change({ kdfparams: greedy }), PASSPHRASE)).toThrow('too much memory')
})

test('each process opens the keys of its own role only', async () => {
  const relayers = [make('relayer'), make('relayer')]
  const inventory = make('inventory')
  make('solana-attester')
  const { code, lines } = await generate(`--role attester --out ${folder}`)
  expect(code).toBe(0)
  expect(listKeys(folder).map(({ role }) => role)).toEqual([
    ...['attester', 'inventory', 'relayer', 'relayer', 'solana-attester'],
  ])
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, name), 'utf8')).not.toContain('privateKey')
  }

  const opened = openKeys(folder, { roles: ['relayer'], passphrase: PASSPHRASE })
  const addresses = opened.map(({ key }) => privateKeyToAddress(key.reveal() as `0x${string}`))
  expect(addresses.sort()).toEqual(relayers.sort())

  const config = join(folder, 'network.txt')
  writeFileSync(config, NETWORK_TEXT)
  const env = {
    GEOSWAP_CONFIG: config,
    DATABASE_URL: 'postgres://x',
    GEOSWAP_KEYSTORE: folder,
    GEOSWAP_KEYSTORE_PASSPHRASE: PASSPHRASE,
  }
  const attester = loadConfig(env, 'attester')
  const held = attester.keys.evm?.map((key) => privateKeyToAddress(key.reveal() as `0x${string}`))
  expect(held).toEqual([lines[0]])
  expect(inventory).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  expect(() => loadConfig(env, 'worker')).toThrow('has no key of deliverer')
  expect(() => loadConfig({ ...env, GEOSWAP_KEYSTORE_PASSPHRASE: 'wrong' }, 'attester')).toThrow('passphrase')
})

test('keys of one folder cost one derivation, and a prepared process none on its own thread', async () => {
  const own = mkdtempSync(join(folder, 'shared-'))
  const cost = { n: 2 ** 10, r: 8, p: 1 }
  const passphrase = `${PASSPHRASE} of this folder`
  const written = ['relayer', 'relayer', 'deliverer'] as const
  for (const role of written) writeKey(role, own, passphrase, cost)
  const files = readdirSync(own).map((name) => JSON.parse(readFileSync(join(own, name), 'utf8')))
  const distinct = (read: (file: EncryptedSecret) => string) => new Set(files.map(read)).size
  const other = createKeyFile('relayer', `${passphrase}, of a file that was added`, cost)
  writeFileSync(join(own, 'added.json'), JSON.stringify(other.file))
  const sync = vi.spyOn(crypto, 'scryptSync')
  const beside = vi.spyOn(crypto, 'scrypt')
  syncBuiltinESMExports()
  const asked = { roles: ['deliverer', 'relayer'], passphrase: `${passphrase}, of a file that was added` }

  rmSync(join(own, readdirSync(own).find((name) => name.startsWith('deliverer')) ?? ''))
  await prepareKeys(own, asked)
  const opened = () => openKeys(own, asked)

  expect([
    distinct(({ crypto }) => String(crypto.kdfparams['salt'])),
    distinct(({ crypto }) => crypto.cipherparams.iv),
  ]).toEqual([1, 3])
  expect(opened).toThrow('the passphrase is wrong')
  expect([sync.mock.calls.length, beside.mock.calls.length]).toEqual([0, 2])
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

test('a file with the address of another key is refused', () => {
  const own = mkdtempSync(join(folder, 'swapped-'))
  make('deliverer', own)
  make('deliverer', own)
  const [first, second] = readdirSync(own).map((name) => join(own, name))
  if (!first || !second) throw new Error('No files')
  const swapped = {
    ...JSON.parse(readFileSync(second, 'utf8')),
    address: JSON.parse(readFileSync(first, 'utf8')).address,
  }
  writeFileSync(`${second}.new`, JSON.stringify(swapped))
  renameSync(`${second}.new`, second)

  expect(() => openKeys(own, { roles: ['deliverer'], passphrase: PASSPHRASE })).toThrow('another address')
})

test('no key is created for an unknown role or with a weak passphrase', async () => {
  expect(await generate(`--role treasurer --out ${folder}`)).toMatchObject({ code: 2 })
  expect(await generate(`--role relayer --out ${folder}`, 'short')).toMatchObject({ code: 2 })
})

test('an unknown role creates nothing, not even the folder', async () => {
  const out = join(folder, 'bogus')

  const { code, lines } = await generate(`--role bogus --out ${out}`)

  expect([code, lines.join()]).toEqual([2, expect.stringContaining('Unknown role bogus')])
  expect(existsSync(out)).toBe(false)
})

test('the requested number of seal keys is created', async () => {
  const out = join(folder, 'plain')

  expect((await generate(`--role seal --out ${out} --count 2`)).lines).toHaveLength(2)
  expect(readdirSync(out)).toHaveLength(2)
})

test.each(['no JSON', 'null', '[]'])('the error of a keystore file that is %s names the file', (text) => {
  const file = join(mkdtempSync(join(folder, 'odd-')), 'odd.json')
  writeFileSync(file, text)

  expect(() => listKeys(dirname(file))).toThrow(`${file} `)
})

test('keys status shows what it can, and its exit code reports an unreachable chain', async () => {
  const file = join(folder, 'dead.json')
  const dead = ({ name }: { name: string }) => [`http://127.0.0.1:1/${name}`]
  const { chains, ...network } = JSON.parse(NETWORK_TEXT)
  const silent = chains.map((chain: { name: string }) => ({ ...chain, rpcUrls: dead(chain) }))
  writeFileSync(file, JSON.stringify({ ...network, chains: silent }))
  const lines: string[] = []
  const say = (text: string) => void lines.push(text)

  const code = await keys(['status', '--config', file], {}, { out: say, hint: say })

  expect([code, lines.join('\n')]).toEqual([1, expect.stringMatching(/relayer .* base does not answer/)])
})
