import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChain } from '@geoswap/devnet'
import { type Address, createTestClient, type Hex, http, numberToHex, parseEther, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createRunner, signElsewhere } from '../../test/support/commands.ts'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { exportCalls } from './evm/offline.ts'
import { withContracts } from './family.ts'
import { sendSigned } from './send-signed.ts'
import { readChosen } from './served.ts'

const to: Address = `0x${'57'.repeat(20)}`
// Stores the word that it is called with.
const STORE = '0x5f355f5500'
const folder = mkdtempSync(join(tmpdir(), 'geoswap-signed-'))
const file = join(folder, 'geoswap.json')
const exported = join(folder, 'calls.json')
const key = generatePrivateKey()
const { address } = privateKeyToAccount(key)
const run = createRunner({ 'send-signed': sendSigned })
const send = (signed: string) => run(`send-signed ${exported} ${signed} --config ${file}`)

let chain: Awaited<ReturnType<typeof startChain>>
let client: ReturnType<typeof createClient>

function createClient(rpcUrl: string) {
  return createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 }).extend(publicActions)
}

beforeAll(async () => {
  chain = await startChain({ name: 'signed', chainId: 8453, blockMs: 100 })
  client = createClient(chain.rpcUrl)
  await client.setBalance({ address, value: parseEther('1') })
  await client.setCode({ address: to, bytecode: STORE })
  const { chains, ...network } = JSON.parse(NETWORK_TEXT)
  const [base, ...others] = chains
  const served = { ...base, rpcUrls: [chain.rpcUrl], attesterRpcUrls: [chain.rpcUrl] }
  writeFileSync(file, JSON.stringify({ ...network, chains: [served, ...others] }))
})
beforeEach(async () => {
  const [base] = withContracts(readChosen({}, file).network.chains)
  if (!base) throw new Error('No chain')
  const calls = [1n, 2n].map((value) => ({
    to,
    data: numberToHex(value, { size: 32 }),
    text: `stores ${value}`,
  }))
  await exportCalls(exported, [{ chain: base, from: address, calls }])
})
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true })
})

test('a call that needs more gas than is signed is not sent', async () => {
  const signed = await signElsewhere(exported, key, { gas: 25_000n })
  const nonce = await client.getTransactionCount({ address })

  const { code, text } = await send(signed)

  expect({ code, text }).toMatchObject({
    code: 1,
    text: expect.stringMatching(/failed: it needs \d{5} gas, and 25000 is signed: it was not sent/),
  })
  expect(await client.getTransactionCount({ address })).toBe(nonce)
})

test('after a call that was reverted none is sent, also by a second run', async () => {
  const signed = await signElsewhere(exported, key, { gas: 25_000n })
  const [first] = readFileSync(signed, 'utf8').split('\n')
  const hash = await client.sendRawTransaction({ serializedTransaction: first as Hex })
  const { status } = await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })
  const nonce = await client.getTransactionCount({ address })

  const { code, text } = await send(signed)

  expect(status).toBe('reverted')
  expect({ code, text }).toMatchObject({
    code: 2,
    text: expect.stringMatching(/was reverted\. Nothing was sent: plan and export again\.$/),
  })
  expect(await client.getTransactionCount({ address })).toBe(nonce)
})
