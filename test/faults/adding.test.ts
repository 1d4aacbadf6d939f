import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createKeys,
  type Network,
  type RunningChain,
  type RunningSolanaChain,
  startChain,
  startNetwork,
  startSolanaProcess,
} from '@geoswap/devnet'
import {
  CREATE2_PROXY,
  CREATE2_PROXY_CODE,
  testFeedAbi,
  testFeedBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@geoswap/protocol'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseEther,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CALL_GAS, create, type Deployer, execute } from '../../packages/devnet/src/deploy.ts'
import { createEvmClient, createEvmSender } from '../../packages/devnet/src/evm-sender.ts'
import { type Env, runCommand } from '../../packages/service/src/command.ts'
import { addChain } from '../../packages/service/src/operate/adding/add-chain.ts'
import { addToken } from '../../packages/service/src/operate/adding/add-token.ts'
import { deploy } from '../../packages/service/src/operate/deploy.ts'
import { fund } from '../../packages/service/src/operate/fund.ts'
import { writeKey } from '../../packages/service/src/operate/keys.ts'
import { treasury } from '../../packages/service/src/operate/treasury/treasury.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, type Order, outcomeOf, submitSwap, until } from '../world.ts'

const GAMMA = { chainId: 31_343, name: 'gamma' }
const DELTA = { chainId: 31_344, name: 'delta' }
const GOLD = { symbol: 'GOLD', decimals: 8 }
// Answers every call with zeros, such as the functions of tokens that rebase.
const ZEROS = '0x6102005ff3'
const USD_E8 = 10n ** 8n
const deployerKey = generatePrivateKey()
const folder = mkdtempSync(join(tmpdir(), 'geoswap-adding-'))

let network: Network
let local: LocalNetwork
let gamma: RunningChain
let delta: RunningSolanaChain
let env: Env
let file: string

beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  const chains = Promise.all([
    startChain({ ...GAMMA, blockMs: 500, env: { PATH, HOME } }),
    startSolanaProcess({ ...DELTA, slotMs: 100, env: { PATH, HOME } }),
  ])
  network = await startNetwork({ blockMs: 500, env: { PATH, HOME } })
  ;[gamma, delta] = await chains
  local = network.local as LocalNetwork
  file = join(network.home, 'service.json')
  env = {
    GEOSWAP_CONFIG: file,
    GEOSWAP_TREASURY_KEY: network.keys.treasury.privateKey,
    GEOSWAP_DEPLOYER_KEY: deployerKey,
  }
})
afterAll(async () => {
  await Promise.all([network?.stop(), gamma?.stop(), delta?.stop()])
  rmSync(folder, { recursive: true })
})

const COMMANDS = { addChain, addToken, deploy, fund, treasury }

async function run(command: keyof typeof COMMANDS, ...args: string[]) {
  const lines: string[] = []
  const say = (text: string) => void lines.push(text)
  const output = { out: say, hint: say }
  const code = await runCommand(output, () => COMMANDS[command](args, env, output))
  return { code, text: lines.join('\n') }
}

/** The commands of an operator, in order. */
async function runAll(...commands: [keyof typeof COMMANDS, ...string[]][]): Promise<void> {
  for (const [command, ...args] of commands) {
    const { code, text } = await run(command, ...args)
    expect(code, text).toBe(0)
  }
}

function deployerOn(chainId: number, rpcUrl: string): Deployer {
  const client = createEvmClient(rpcUrl)
  const privateKey = network.keys.treasury.privateKey
  return { client, treasury: createEvmSender(client, { privateKey, chainId }) }
}

const saltOf = (name: string): Hex => keccak256(toHex(name))

async function createToken(on: Deployer, symbol: string, decimals: number): Promise<Address> {
  const args = [symbol, symbol, decimals] as const
  const bytecode = encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode, args })
  return create(on, { bytecode, salt: saltOf(`third ${symbol}`) })
}

async function mint(on: Deployer, token: Address, to: Address, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [to, amount] })
  await execute(on, { to: token, data, gas: CALL_GAS })
}

/** In the order that the commands name. Each process is ready before the next one ends. */
async function restart(): Promise<void> {
  for (const role of ['attester', 'worker', 'api']) {
    const before = network.pids[role] ?? []
    network.kill(role)
    await until(async () => {
      const now = network.pids[role] ?? []
      return now.length === before.length && !now.some((pid) => before.includes(pid))
    })
  }
}

async function settle(order: (world: ReturnType<typeof createWorld>) => Order, wallet: Hex): Promise<void> {
  const world = createWorld(local)
  const swap = () => submitSwap(world, privateKeyToAccount(wallet), order(world)).catch(() => undefined)
  // The processes that were started again still read the chains.
  const { swapId } = await until(swap, 120_000)
  expect(await outcomeOf(world, swapId)).toMatchObject({ status: 'settled' })
}

test('a token that add-token added is swapped after the steps that it names', async () => {
  const alpha = createWorld(local).chainNamed('alpha')
  const { rpcUrl } = local.chains.find(({ name }) => name === 'alpha') ?? expect.unreachable('No alpha')
  const on = deployerOn(alpha.chainId, rpcUrl)
  const address = await createToken(on, GOLD.symbol, GOLD.decimals)
  const args = [8, 'GOLD / USD', 10n * USD_E8] as const
  const bytecode = encodeDeployData({ abi: testFeedAbi, bytecode: testFeedBytecode, args })
  const feed = await create(on, { bytecode, salt: saltOf('feed') })
  const wallet = generatePrivateKey()
  await mint(on, address, network.keys.treasury.address, 1_000n * USD_E8)
  await mint(on, address, privateKeyToAccount(wallet).address, 5n * USD_E8)
  const asked = ['--chain', 'alpha', '--token', address, '--cap', '1000', '--plain']
  const priced = [...asked, '--feed', `alpha:${feed}:86400`]
  const before = readFileSync(file, 'utf8')

  const unpriced = await run('addToken', ...asked)
  const misnamed = await run('addToken', ...asked, '--asset', 'SILVER', '--feed', `alpha:${feed}:86400`)
  const planned = await run('addToken', ...priced, '--dry-run')
  expect([unpriced.code, misnamed.code, planned.code]).toEqual([2, 2, 0])
  expect(unpriced.text).toContain('GOLD is a new asset without a price: give --feed.')
  expect(misnamed.text).toContain('SILVER')
  expect(planned.text).toContain(`+          "address": "${address}"`)
  expect(readFileSync(file, 'utf8')).toBe(before)

  const rebasing: Address = `0x${'ba'.repeat(20)}`
  await on.client.setCode({ address: rebasing, bytecode: ZEROS })
  const refused = await run('addToken', '--chain', 'alpha', '--token', rebasing, '--symbol', 'STETH')
  expect(refused).toMatchObject({
    code: 2,
    text: expect.stringContaining('changes balances without transfers'),
  })

  const sol = await createToken(on, 'SOL', 9)
  const named = ['--chain', 'alpha', '--token', sol, '--cap', '10', '--plain', '--dry-run']
  const [fake, meant] = [await run('addToken', ...named), await run('addToken', ...named, '--asset', 'SOL')]
  expect(fake).toMatchObject({
    code: 2,
    text: expect.stringMatching(/is no token of the presets.* give --asset SOL\.$/),
  })
  expect(meant).toMatchObject({ code: 0, text: expect.stringContaining('+          "asset": "SOL"') })
  expect(readFileSync(file, 'utf8')).toBe(before)

  const added = await run('addToken', ...priced)
  expect(added.text).toContain(`alpha: GOLD ${address}, 8 decimals, asset GOLD\ncomes in by delegation`)
  const written = readFileSync(file, 'utf8')
  const again = JSON.parse((await run('addToken', ...priced, '--json')).text)
  expect(again).toMatchObject({ file, changed: false, diff: '', dryRun: false })
  expect(readFileSync(file, 'utf8')).toBe(written)
  await runAll(['treasury', 'apply', '--chain', 'alpha', '--stock', 'alpha:GOLD=500'])
  await restart()

  local.chains.find(({ name }) => name === 'alpha')?.tokens.push({ ...GOLD, address } as never)
  await settle(
    ({ alpha: from, beta: to }) => ({ from, sell: 'GOLD', to, buy: 'USDC', amount: 4n * USD_E8 }),
    wallet,
  )
})

test('a chain that add-chain added is swapped to after the steps that it names', async () => {
  const on = deployerOn(GAMMA.chainId, gamma.rpcUrl)
  await on.client.setBalance({ address: on.treasury.address, value: parseEther('10') })
  const { rpcUrl: alphaUrl } =
    local.chains.find(({ name }) => name === 'alpha') ?? expect.unreachable('No alpha')
  await on.client.setBalance({ address: privateKeyToAccount(deployerKey).address, value: parseEther('10') })
  const { text: unknown } = await run('addChain', join(folder, 'none.json'))
  expect(unknown).toContain('is no preset and no file')
  const usdc = { symbol: 'USDC', asset: 'USDC', decimals: 6, plain: true }
  const fields = {
    ...GAMMA,
    family: 'evm',
    native: { symbol: 'ETH', asset: 'ETH' },
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 4 },
    blockMs: 500,
  }
  const source = join(folder, 'gamma.json')
  writeFileSync(source, JSON.stringify({ ...fields, tokens: [{ ...usdc, address: `0x${'12'.repeat(20)}` }] }))
  const nodesAt = (url: string) => ['--node', url, '--attester-node', url]

  const elsewhere = await run('addChain', source, ...nodesAt(alphaUrl))
  const tokenless = await run('addChain', source, ...nodesAt(gamma.rpcUrl))
  expect(elsewhere).toMatchObject({ code: 2, text: expect.stringContaining('serves chain 31337, not 31343') })
  expect(tokenless).toMatchObject({ code: 2, text: expect.stringContaining('gamma: there is no token USDC') })

  await on.client.setCode({ address: CREATE2_PROXY, bytecode: CREATE2_PROXY_CODE })
  const address = await createToken(on, 'USDC', 6)
  await mint(on, address, on.treasury.address, 10_000_000_000n)
  writeFileSync(source, JSON.stringify({ ...fields, tokens: [{ ...usdc, address }] }))
  const added = await run('addChain', source, ...nodesAt(gamma.rpcUrl))
  expect(added.code, added.text).toBe(0)
  expect(added.text).toContain('gamma: vault')
  expect(added.text).toMatch(/service fund apply: 0\.\d+ ETH to \d+ keys/)
  const again = await run('addChain', source, ...nodesAt(gamma.rpcUrl))
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining('nothing changed') })

  await runAll(
    ['deploy', '--chain', 'gamma'],
    ['fund', 'apply'],
    ['treasury', 'apply', '--chain', 'gamma', '--stock', 'gamma:USDC=5000'],
  )
  await restart()

  const { contracts, uniswapV3 } = createWorld(local).alpha
  const tokens = [{ symbol: 'USDC', address, decimals: 6 }]
  local.chains.push({ ...GAMMA, family: 'evm', rpcUrl: gamma.rpcUrl, tokens, contracts, uniswapV3 })
  const world = createWorld(local)
  const wallet = generatePrivateKey()
  await world.fund(world.alpha, privateKeyToAccount(wallet).address, 'USDC', 10_000_000n)
  await settle(
    (now) => ({
      from: now.alpha,
      sell: 'USDC',
      to: now.chainNamed('gamma'),
      buy: 'USDC',
      amount: 10_000_000n,
    }),
    wallet,
  )
})

test('a token of Solana that add-token added is swapped to after the steps that it names', async () => {
  const solana = await createSolanaWorld(local)
  const mint = await solana.createMint({ decimals: 6 })
  const named = ['--chain', 'solana', '--token', mint.address, '--symbol', 'USDX', '--asset', 'USDC']
  const payer = createKeys().solana.inventory
  await solana.fund(payer.address, 'SOL', 10n ** 9n)

  const added = await run('addToken', ...named, '--cap', '10000')
  expect(added).toMatchObject({ code: 0, text: expect.stringContaining('service deploy --chain solana') })
  env = { ...env, GEOSWAP_SOLANA_DEPLOYER_KEY: payer.seed }
  await runAll(['deploy', '--chain', 'solana'])
  await solana.mintTo(mint, solana.vault, 5_000_000_000n)
  await restart()

  const at = local.chains.findIndex(({ name }) => name === 'solana')
  local.chains[at]?.tokens.push({ symbol: 'USDX', address: mint.address, decimals: 6 } as never)
  const now = await createSolanaWorld(local)
  const wallet = generatePrivateKey()
  const { alpha, fund: give } = createWorld(local)
  await give(alpha, privateKeyToAccount(wallet).address, 'USDC', 50_000_000n)
  const { address: recipient } = await now.wallet({ SOL: 10n ** 8n })
  const order = { sell: 'USDC', to: now, buy: 'USDX', amount: 50_000_000n, recipient }
  await settle((world) => ({ from: world.alpha, ...order }), wallet)
})

test('a Solana chain is planned before anything of ours is on it', async () => {
  const chain = { ...DELTA, family: 'solana' as const, rpcUrl: delta.rpcUrl, wsUrl: delta.wsUrl, tokens: [] }
  const solana = await createSolanaWorld({ ...local, chains: [chain as never] })
  const mint = await solana.createMint({ decimals: 6 })
  const roles = ['inventory', 'fee-input', 'fee-delivery', 'solana-attester', 'solana-program'] as const
  const keystore = mkdtempSync(join(folder, 'keystore-'))
  for (const role of roles) writeKey(role, keystore, 'a long passphrase', { n: 2, r: 1, p: 1 })
  const source = join(folder, 'delta.json')
  const usdc = { symbol: 'USDC', asset: 'USDC', decimals: 6, address: mint.address }
  const finality = { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 32 }
  const native = { symbol: 'SOL', asset: 'SOL' }
  const fields = { ...DELTA, family: 'solana', native, finality, blockMs: 100, tokens: [usdc] }
  writeFileSync(source, JSON.stringify(fields))
  const nodes = ['--node', delta.rpcUrl, '--attester-node', delta.rpcUrl]

  const planned = await run('addChain', source, ...nodes, '--keystore', keystore, '--dry-run')

  expect(planned.code, planned.text).toBe(0)
  expect(planned.text).toMatch(/delta: escrow program \w+ would be created/)
  expect(planned.text).toMatch(/delta: token account of USDC of the vault \w+ would be created/)
})
