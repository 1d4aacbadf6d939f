import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChain } from '@geoswap/devnet'
import { CONTRACT_CODE, CREATE2_PROXY, planDeployment } from '@geoswap/protocol'
import {
  concat,
  createTestClient,
  createWalletClient,
  getContractAddress,
  type Hex,
  http,
  keccak256,
  parseEther,
  publicActions,
  sliceHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRunner, signElsewhere } from '../../test/support/commands.ts'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { checkConfig } from './check-config.ts'
import { deploy } from './deploy.ts'
import { fund } from './fund.ts'
import { sendSigned } from './send-signed.ts'
import { treasury as treasuryCommand } from './treasury/treasury.ts'

const CHAIN_ID = 8453
const treasuryKey = generatePrivateKey()
const treasury = privateKeyToAccount(treasuryKey).address
const attester = privateKeyToAccount(generatePrivateKey()).address
const deployerKey = generatePrivateKey()
const attesters = { members: [attester], threshold: 1 }
const { contracts } = planDeployment({ treasury, attesters: [attester], threshold: 1 })
const PYTH = { kind: 'pyth', feedId: `0x${'ab'.repeat(32)}`, maxAgeSeconds: 30 }
const folder = mkdtempSync(join(tmpdir(), 'geoswap-deploy-'))
const file = join(folder, 'geoswap.json')

let chain: Awaited<ReturnType<typeof startChain>>
let client: ReturnType<typeof createClient>

function createClient(rpcUrl: string) {
  return createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 }).extend(publicActions)
}

beforeAll(async () => {
  chain = await startChain({ name: 'deploy', chainId: CHAIN_ID, blockMs: 100 })
  client = createClient(chain.rpcUrl)
  await client.setBalance({ address: privateKeyToAccount(deployerKey).address, value: parseEther('10') })
  writeConfig({ contracts })
})
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true })
})

/** The chain and the feeds of Base, on our own node and with our own roles. */
function writeConfig(change: object, { isPricedByPyth = false, owner = treasury, roles = {} } = {}): void {
  const { chains, assets, ...network } = JSON.parse(NETWORK_TEXT)
  const served = { ...chains[0], rpcUrls: [chain.rpcUrl], attesterRpcUrls: [chain.rpcUrl], ...change }
  const priced = assets.slice(0, 2).map((asset: { sources: object[] }) => ({
    ...asset,
    sources: isPricedByPyth
      ? [PYTH]
      : asset.sources.map((source) => ({ ...source, chainId: served.chainId })),
  }))
  const { discount: _, ...rest } = network
  const changed = { assets: priced, chains: [served], treasury: owner, ...roles, attesters }
  writeFileSync(file, JSON.stringify({ ...rest, venues: [{ kind: 'inventory' }], ...changed }, null, 2))
}

const checks = { 'check-config': checkConfig, 'send-signed': sendSigned }
const run = createRunner({ deploy, fund, treasury: treasuryCommand, ...checks })

function gasOf(text: string, said: string): number {
  const found = new RegExp(`base: vault ${contracts.vault} ${said} (\\d+) gas`).exec(text)
  expect(found, text).not.toBeNull()
  return Number(found?.[1])
}

test('a deployer without gas is named with chain and amount, before anything is sent', async () => {
  const poor = generatePrivateKey()

  const { code, text } = await run(`deploy --config ${file}`, { GEOSWAP_DEPLOYER_KEY: poor })

  expect(code).toBe(2)
  const deployer = `the deployer ${privateKeyToAccount(poor).address} has 0 ETH`
  expect(text).toMatch(new RegExp(`^base: ${deployer} and needs about 0\\.\\d+ ETH\\. Nothing was sent\\.$`))
})

test('contracts are created at the addresses in the file, once, and verified by their code', async () => {
  const planned = await run(`deploy --config ${file} --dry-run`)
  expect(planned).toMatchObject({ code: 0, text: expect.stringContaining('has no CREATE2 deployer yet') })
  const expected = gasOf(planned.text, 'would be created: about')
  expect(await client.getCode({ address: CREATE2_PROXY })).toBeUndefined()

  const before = await run(`deploy --config ${file} --verify-only`)
  expect(before).toMatchObject({
    code: 1,
    text: expect.stringContaining(`vault ${contracts.vault} is missing`),
  })

  const first = await run(`deploy --config ${file}`, { GEOSWAP_DEPLOYER_KEY: deployerKey })
  expect(first.code).toBe(0)
  const used = gasOf(first.text, 'created:')
  expect(Math.abs(expected - used) / used).toBeLessThan(0.05)
  expect(first.text).toContain(`base: account ${contracts.account} exists, code 0x`)

  const nonce = await client.getTransactionCount({ address: privateKeyToAccount(deployerKey).address })
  const again = await run(`deploy --config ${file}`, { GEOSWAP_DEPLOYER_KEY: deployerKey })
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining('already exists') })
  const after = await client.getTransactionCount({ address: privateKeyToAccount(deployerKey).address })
  expect(after).toBe(nonce)
  expect(await run(`deploy --config ${file} --verify-only`)).toMatchObject({ code: 0 })
  const nothing = await run(`deploy --config ${file} --dry-run`)
  expect(nothing).toMatchObject({ code: 0, text: expect.stringContaining('base: nothing to create') })
})

test('with an existing CREATE2 deployer, a dry run reports the cost of contracts for another treasury', async () => {
  const other = privateKeyToAccount(generatePrivateKey()).address
  const { contracts: theirs } = planDeployment({
    treasury: other,
    attesters: [attester],
    threshold: 1,
  })
  writeConfig({ contracts: theirs }, { owner: other })

  const { code, text } = await run(`deploy --config ${file} --dry-run`)

  writeConfig({ contracts })
  expect(code).toBe(0)
  expect(text).toMatch(/base: about 0\.\d+ of the native coin in total at the current gas price/)
  expect(text).not.toContain('no CREATE2 deployer')
})

test('an address that does not follow from treasury and attester is refused before anything is sent', async () => {
  writeConfig({ contracts: { ...contracts, vault: `0x${'77'.repeat(20)}` } })

  const { code, text } = await run(`deploy --config ${file}`, { GEOSWAP_DEPLOYER_KEY: deployerKey })

  writeConfig({ contracts })
  expect(code).toBe(1)
  expect(text).toContain(`as vault, but it will be at ${contracts.vault}`)
})

test('the online check reports missing contracts, and foreign code', async () => {
  const { code, text } = await run(`check-config ${file} --online`)
  expect(code).toBe(1)
  expect(text).toContain('base: there is no token USDC at 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')
  expect(text).toContain('base: there is no price feed at 0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70')
  expect(text).toContain(
    'base: the vault does not accept deliveries from 0x2000000000000000000000000000000000000001',
  )
  expect(text).not.toContain('of this version')

  const deployed = (await client.getCode({ address: contracts.vault })) ?? '0x'
  await client.setCode({ address: contracts.vault, bytecode: `${deployed.slice(0, -2)}00` as `0x${string}` })
  const changed = await run(`check-config ${file} --online`)
  expect(changed.text).toContain(
    `base: the code at ${contracts.vault} is not the vault contract of this version`,
  )
  expect(await run(`deploy --config ${file} --verify-only`)).toMatchObject({ code: 1 })
  await client.setCode({ address: contracts.vault, bytecode: deployed })
})

test('the online check reports a contract of the same code that was created otherwise', async () => {
  const [creation] = planDeployment({ treasury, attesters: [attester], threshold: 1 }).creations
  const code = sliceHex(creation?.data ?? '0x', 32)
  const salt = keccak256('0x01')
  const twin = getContractAddress({ opcode: 'CREATE2', from: CREATE2_PROXY, salt, bytecode: code })
  const deployer = privateKeyToAccount(deployerKey)
  const wallet = createWalletClient({ account: deployer, transport: http(chain.rpcUrl) })
  const data = concat([salt, code])
  const hash = await wallet.sendTransaction({ to: CREATE2_PROXY, data, chain: null, gas: 15_000_000n })
  await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })
  const escrow = getContractAddress({ from: twin, nonce: 1n })
  const account = getContractAddress({ from: escrow, nonce: 1n })
  writeConfig({ contracts: { account, escrow, vault: twin } })

  const { text } = await run(`check-config ${file} --online`)

  writeConfig({ contracts })
  expect(text).toContain(`base: the vault at ${twin} was not created by this version`)
})

test.each(['account', 'escrow', 'vault'] as const)(
  'the online check reports a value in the code of the %s that its constructor did not write',
  async (role) => {
    const address = contracts[role]
    const deployed = (await client.getCode({ address })) ?? '0x'
    const [start = 0] = CONTRACT_CODE[role].immutables.slice(-1)
    const forged = `${deployed.slice(0, 2 + start * 2)}${'77'.repeat(32)}${deployed.slice(66 + start * 2)}`
    await client.setCode({ address, bytecode: forged as Hex })

    const { text } = await run(`check-config ${file} --online`)

    await client.setCode({ address, bytecode: deployed })
    expect(text).toContain(
      `base: the ${role} at ${address} has a value in its code that is not of this deployment`,
    )
  },
)

test('the online check reports a key of ours that is delegated', async () => {
  const relayer = '0x1000000000000000000000000000000000000001'
  await client.setCode({
    address: relayer,
    bytecode: `0xef0100${contracts.account.slice(2)}` as `0x${string}`,
  })

  const { text } = await run(`check-config ${file} --online`)

  await client.setCode({ address: relayer, bytecode: '0x' })
  expect(text).toContain(`base: there is code at ${relayer}, which sends transactions`)
})

// Without tokens and oracle, which this chain does not have.
const CAPPED = { symbol: 'ETH', asset: 'ETH', capPerHour: '4', claimCapPerHour: '16.5' }
const BARE = { contracts, tokens: [], l1FeeOracle: undefined }
const writeCapped = () => writeConfig({ ...BARE, native: CAPPED }, { isPricedByPyth: true })

test('the online check names every closed cap, missing call and key without gas at once', async () => {
  writeCapped()

  const { code, text } = await run(`check-config ${file} --online`)

  writeConfig({ contracts })
  expect(code).toBe(1)
  const deliverer = '0x2000000000000000000000000000000000000001'
  expect(text).toContain(`base: the treasury has to call GeoVault.setDeliverer(${deliverer}, true)`)
  expect(text).toMatch(
    /base: the treasury has to call GeoEscrow\.setClaimCap.*claims of 16\.5 ETH an hour, now 0 ETH/,
  )
  expect(text).toMatch(
    /base: the treasury has to call GeoVault\.setCap.*payments of 4 ETH an hour, now 0 ETH/,
  )
  expect(text).toMatch(
    /base: no gas at 0x1000000000000000000000000000000000000001 on base, needs about 0\.\d+ ETH/,
  )
  expect(text).toContain('Pyth feeds cannot be verified: fetch failed')
})

test('the treasury makes all its calls by one command, and a second time none', async () => {
  writeCapped()
  const plan = async () =>
    JSON.parse((await run(`treasury plan --config ${file} --json`)).text).chains[0].calls
  const key = { GEOSWAP_TREASURY_KEY: treasuryKey }
  const broke = await run(`treasury apply --config ${file}`, key)
  await client.setBalance({ address: treasury, value: parseEther('1') })
  const safe = await run(`treasury plan --config ${file} --safe ${join(folder, 'batch')}`)
  const batch = JSON.parse(readFileSync(join(folder, 'batch-base.json'), 'utf8'))

  const first = await run(`treasury apply --config ${file} --stock base:ETH=0.25`, key)
  const second = await run(`treasury apply --config ${file} --stock base:ETH=0.25`, key)
  const left = await plan()
  const other = await run(`treasury apply --config ${file} --stock base:ETH=0.5`, {
    GEOSWAP_TREASURY_KEY: generatePrivateKey(),
  })

  writeConfig({ contracts })
  expect(broke).toMatchObject({ code: 2, text: expect.stringContaining(`No gas at ${treasury} on base`) })
  expect(safe.text).toContain('base (8453): 3 calls by ')
  expect(
    batch.transactions.map(({ contractMethod }: { contractMethod: { name: string } }) => contractMethod.name),
  ).toEqual(['setDeliverer', 'setClaimCap', 'setCap'])
  expect(first).toMatchObject({ code: 0, text: expect.stringContaining('Done: 4 calls are in blocks.') })
  expect(second).toEqual({ code: 0, text: 'Nothing to call.' })
  expect(left).toEqual([])
  expect(await client.getBalance({ address: contracts.vault })).toBe(parseEther('0.25'))
  expect(other.text).toContain(`but only ${treasury} can do this on base`)
})

test('calls of the treasury that are signed elsewhere are sent in order, once', async () => {
  const native = { ...CAPPED, capPerHour: '5', claimCapPerHour: '17' }
  writeConfig({ ...BARE, native }, { isPricedByPyth: true })
  const exported = join(folder, 'calls.json')
  const plan = await run(`treasury plan --config ${file} --export ${exported}`)
  const signed = await signElsewhere(exported, treasuryKey)
  const send = `send-signed ${exported} ${signed} --config ${file}`

  const [first, second] = [await run(send), await run(send)]
  const left = await run(`treasury plan --config ${file} --json`)
  await signElsewhere(exported, deployerKey)
  const stranger = await run(send)

  writeConfig({ contracts })
  expect(plan.text).toContain(`Wrote 2 transactions to ${exported}.`)
  expect(first).toMatchObject({ code: 0, text: expect.stringContaining('2 sent, 0 were in blocks before') })
  expect(second).toMatchObject({ code: 0, text: expect.stringContaining('0 sent, 2 were in blocks before') })
  expect(JSON.parse(left.text).chains[0].calls).toEqual([])
  expect(stranger).toMatchObject({
    code: 2,
    text: expect.stringMatching(/none was exported\. Nothing was sent/),
  })
})

test('contracts are created by a deployer whose key is elsewhere, unless its nonce was used since', async () => {
  const owner = privateKeyToAccount(generatePrivateKey()).address
  const planned = planDeployment({ treasury: owner, attesters: [attester], threshold: 1 })
  writeConfig({ contracts: planned.contracts }, { owner })
  const { address } = privateKeyToAccount(deployerKey)
  const exported = join(folder, 'creations.json')
  const create = `deploy --config ${file} --export ${exported} --from ${address}`
  const [written, nobody] = [await run(create), await run(`deploy --config ${file} --export ${exported}`)]
  const signed = await signElsewhere(exported, deployerKey)
  const send = `send-signed ${exported} ${signed} --config ${file}`

  await client.setNonce({ address, nonce: (await client.getTransactionCount({ address })) + 1 })
  const used = await run(send)
  await run(create)
  await signElsewhere(exported, deployerKey)
  const sent = await run(send)
  const verified = await run(`deploy --config ${file} --verify-only`)

  writeConfig({ contracts })
  expect(written.text).toContain(` to ${exported}.`)
  expect(nobody).toMatchObject({ code: 2, text: '--export needs --from, the address of the deployer.' })
  expect(used).toMatchObject({ code: 2, text: expect.stringContaining('is used by another transaction') })
  expect([sent.code, verified.code], sent.text).toEqual([0, 0])
})

test('the guardian lowers caps and revokes deliverers by one command, and nothing else', async () => {
  const guardianKey = generatePrivateKey()
  const guardian = privateKeyToAccount(guardianKey).address
  await client.setBalance({ address: guardian, value: parseEther('1') })
  const key = { GEOSWAP_GUARDIAN_KEY: guardianKey }
  const [gone, next] = ['0x2000000000000000000000000000000000000001', `0x${'29'.repeat(20)}`]
  writeCapped()
  await run(`treasury apply --config ${file}`, { GEOSWAP_TREASURY_KEY: treasuryKey })
  writeConfig({ ...BARE, native: CAPPED }, { isPricedByPyth: true, roles: { guardian } })
  const named = await run(`treasury apply --config ${file}`, { GEOSWAP_TREASURY_KEY: treasuryKey })

  const native = { ...CAPPED, capPerHour: '0', claimCapPerHour: '17' }
  const roles = { guardian, deliverers: [next] }
  writeConfig({ ...BARE, native }, { isPricedByPyth: true, roles })
  const apply = `treasury apply --config ${file} --guardian --revoke ${gone}`
  const stranger = await run(apply, { GEOSWAP_GUARDIAN_KEY: deployerKey })
  const first = await run(apply, key)
  const second = await run(apply, key)
  const left = await run(`treasury plan --config ${file} --json`)

  writeConfig({ contracts })
  expect(named.text).toContain(`GeoVault.setGuardian(${guardian})`)
  expect(stranger).toMatchObject({ code: 2, text: expect.stringContaining(`the guardian is ${guardian}`) })
  expect(first).toMatchObject({ code: 0, text: expect.stringContaining('Done: 2 calls are in blocks.') })
  expect(first.text).toContain(`GeoVault.setDeliverer(${gone}, false)`)
  expect(second).toEqual({ code: 0, text: 'Nothing to call.' })
  const calls = JSON.parse(left.text).chains[0].calls.map(({ text }: { text: string }) => text.split('(')[0])
  expect(calls).toEqual(['GeoVault.setDeliverer', 'GeoEscrow.setClaimCap'])
})

test('a refused call stops the others with the name of the error', async () => {
  const native = { ...CAPPED, capPerHour: `1${'0'.repeat(40)}` }
  writeConfig({ ...BARE, native }, { isPricedByPyth: true })

  const { code, text } = await run(`treasury apply --config ${file}`, { GEOSWAP_TREASURY_KEY: treasuryKey })

  writeConfig({ contracts })
  expect(code).toBe(1)
  expect(text).toContain('failed: the contract refused it with CapTooLarge')
})

test('all keys are funded by one command, and a second time none', async () => {
  writeCapped()
  const key = { GEOSWAP_DEPLOYER_KEY: deployerKey }
  const relayer = '0x1000000000000000000000000000000000000001'

  const first = await run(`fund apply --config ${file}`, key)
  const balance = await client.getBalance({ address: relayer })
  const second = await run(`fund apply --config ${file}`, key)
  const poor = await run(`fund apply --config ${file} --swaps 1000000`, {
    GEOSWAP_DEPLOYER_KEY: generatePrivateKey(),
  })

  writeConfig({ contracts })
  expect(first.code).toBe(0)
  expect(first.text).toMatch(new RegExp(`base: [\\d.]+ ETH to the relayer ${relayer}, 0x`))
  expect(balance).toBeGreaterThan(0n)
  expect(second.text).toContain('Nothing to send.')
  expect(await client.getBalance({ address: relayer })).toBe(balance)
  expect(poor).toMatchObject({
    code: 2,
    text: expect.stringMatching(/base: the funder 0x\w+ has 0 and needs more than/),
  })
})

test('the online check reports a node of another chain by its host, and a wrong clock', async () => {
  writeConfig({ contracts, chainId: 10 })
  const other = await run(`check-config ${file} --online`)
  expect(other.code).toBe(1)
  expect(other.text).toMatch(/base: the node at 127\.0\.0\.1:\d+ serves chain 8453, not 10/)

  writeConfig({ contracts })
  await client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(Date.now() / 1_000) + 3_600) })
  await client.mine({ blocks: 1 })
  expect((await run(`check-config ${file} --online`)).text).toMatch(/is 3\d\d\d s ahead of this machine/)
})
