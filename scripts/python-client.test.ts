import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { endpoints } from '@geoswap/wire'
import { createKeyPairSignerFromPrivateKeyBytes, signBytes } from '@solana/kit'
import { hashTypedData, hexToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { pythonClient } from './python-client.ts'

test('the Python client has a method for every call of the interface', () => {
  const [, client = ''] = pythonClient().split('class Client:')
  const called = [...client.matchAll(/^ {4}def ([a-z]\w*)\(/gm)].map(([, name]) => name)

  expect(new Set(called).size).toBe(Object.keys(endpoints).length)
  expect(called).toEqual(expect.arrayContaining(['quote', 'build_geo_op', 'submit_solana', 'events']))
})

const hasPython = spawnSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 11)']).status === 0
const SECRET = `0x${'5c'.repeat(32)}` as const
const HASH = `0x${'d1'.repeat(32)}` as const
const typedData = {
  domain: { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: `0x${'a1'.repeat(20)}` },
  types: {
    Outer: [
      { name: 'inner', type: 'Inner' },
      { name: 'text', type: 'string' },
      { name: 'word', type: 'bytes32' },
      { name: 'who', type: 'address' },
    ],
    Inner: [{ name: 'amount', type: 'uint256' }],
  },
  primaryType: 'Outer',
  message: {
    inner: { amount: '340282366920938463463374607431768211456' },
    text: 'é',
    word: HASH,
    who: `0x${'b2'.repeat(20)}`,
  },
} as const

const PROGRAM = `
import json, sys
sys.path.insert(0, "examples/python")
from geoswap_wallets import EvmWallet, SolanaWallet, hash_typed_data
secret, digest, typed = json.loads(sys.argv[1])
evm, solana = EvmWallet(bytes.fromhex(secret[2:])), SolanaWallet(bytes.fromhex(secret[2:]))
nonces = [evm.sign_authorization(31337, "0x" + "c3" * 20, nonce) for nonce in (0, 1, 128, 70000)]
print(json.dumps([evm.address, evm.sign_hash(digest), hash_typed_data(typed), evm.sign_typed_data(typed), nonces,
    solana.address, solana.sign(bytes.fromhex(digest[2:])).hex()]))`

test.runIf(hasPython)('the wallets in Python sign exactly as viem and kit do', async () => {
  const given = JSON.stringify([SECRET, HASH, typedData])
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const signed = JSON.parse(execFileSync('python3', ['-c', PROGRAM, given], { encoding: 'utf8', env }))

  const evm = privateKeyToAccount(SECRET)
  const { address, keyPair } = await createKeyPairSignerFromPrivateKeyBytes(hexToBytes(SECRET))
  const bySolana = await signBytes(keyPair.privateKey, hexToBytes(HASH))
  const message = { ...typedData.message, inner: { amount: 2n ** 128n } }
  const authorizations = await Promise.all(
    [0, 1, 128, 70_000].map(async (nonce) => {
      const fields = { chainId: 31_337, address: `0x${'c3'.repeat(20)}` as const, nonce }
      const { yParity, r, s } = await evm.signAuthorization(fields)
      return { ...fields, yParity, r, s }
    }),
  )
  expect(signed).toEqual([
    evm.address.toLowerCase(),
    await evm.signMessage({ message: { raw: HASH } }),
    hashTypedData({ ...typedData, message }),
    await evm.signTypedData({ ...typedData, message }),
    authorizations,
    address,
    Buffer.from(bySolana).toString('hex'),
  ])
})

const REDIRECTED = `
import sys
sys.path.insert(0, "examples/python")
from geoswap_client import Client, GeoswapError
try:
    Client(sys.argv[1], "secret").chains()
except GeoswapError as error:
    print(error.status, error.code)`

test.runIf(hasPython)(
  'the Python client sends its API key to no other place that a reply names',
  async () => {
    const asked: (string | undefined)[] = []
    const server = createServer(({ url, headers }, response) => {
      asked.push(url)
      const place = `http://localhost:${headers.host?.split(':')[1]}/elsewhere`
      response.writeHead(url === '/swap/chains' ? 302 : 200, { location: place }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, resolve))
    const { port } = server.address() as AddressInfo

    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    const asks = ['-c', REDIRECTED, `http://127.0.0.1:${port}`]
    const { stdout } = await promisify(execFile)('python3', asks, { encoding: 'utf8', env })
    server.close()

    expect([asked, stdout]).toEqual([['/swap/chains'], '302 UNEXPECTED_REPLY\n'])
  },
)
