import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { geoVaultAbi, testFeedAbi, testTokenAbi } from '@geoswap/protocol'
import { createSolanaRpc, type Address as SolanaAddress } from '@solana/kit'
import { type Address, createTestClient, erc20Abi, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type LocalChain, type Network, startNetwork } from '../src/index.ts'
import { findFreePort, holdPort } from '../src/ports.ts'

const home = mkdtempSync(join(tmpdir(), 'geoswap-test-'))
let network: Network
let alpha: LocalChain
let beta: LocalChain
let solana: LocalChain

beforeAll(async () => {
  const serviceConfig = { quoteTtlMs: 5_000 }
  network = await startNetwork({ home, service: false, blockMs: 200, slotMs: 100, serviceConfig })
  alpha = chainNamed('alpha')
  beta = chainNamed('beta')
  solana = chainNamed('solana')
})

afterAll(async () => {
  await network?.stop()
  rmSync(home, { recursive: true, force: true })
})

function chainNamed(name: string): LocalChain {
  const chain = network.local.chains.find((each) => each.name === name)
  if (!chain) throw new Error(`No chain ${name}`)
  return chain
}

function clientOf({ rpcUrl }: LocalChain) {
  return createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 }).extend(publicActions)
}

function tokenOf(chain: LocalChain, symbol: string): Address {
  const token = chain.tokens.find((each) => each.symbol === symbol)
  if (!token) throw new Error(`No token ${symbol}`)
  return token.address as Address
}

function newWallet(): Address {
  return privateKeyToAddress(generatePrivateKey())
}

function addressesOf(keys: Record<string, { address: string }>): Record<string, string> {
  return Object.fromEntries(Object.entries(keys).map(([role, { address }]) => [role, address]))
}

async function ask(body: unknown): Promise<{ status: number; body: Record<string, string> }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(network.local.faucetUrl, { method: 'POST', body: text })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

function balanceOf(chain: LocalChain, at: { token: Address; wallet: Address }): Promise<bigint> {
  const args = [at.wallet] as const
  return clientOf(chain).readContract({ address: at.token, abi: erc20Abi, functionName: 'balanceOf', args })
}

test('the contracts have the same addresses and code on both chains', async () => {
  expect(beta.contracts).toEqual(alpha.contracts)
  const addresses = Object.values(alpha.contracts ?? {})
  const codes = await Promise.all(
    [alpha, beta].flatMap((c) => addresses.map((address) => clientOf(c).getCode({ address }))),
  )

  expect(codes.map((code) => (code ?? '0x').length > 2)).toEqual(Array(6).fill(true))
})

test('a token of the same name has another address on the other chain', () => {
  for (const symbol of ['USDC', 'WETH', 'GEO']) expect(tokenOf(alpha, symbol)).not.toBe(tokenOf(beta, symbol))
})

test('USDC has 6 decimals on alpha and 18 on beta, as the listing says', async () => {
  const read = (chain: LocalChain) => {
    const address = tokenOf(chain, 'USDC')
    return clientOf(chain).readContract({ address, abi: testTokenAbi, functionName: 'decimals' })
  }

  expect(await Promise.all([read(alpha), read(beta)])).toEqual([6, 18])
  expect([alpha, beta].map((c) => c.tokens.find((t) => t.symbol === 'USDC')?.decimals)).toEqual([6, 18])
})

test('the vault holds a million dollars of every token, and its deliverers may pay it out', async () => {
  const vault = alpha.contracts?.vault ?? '0x'
  const usdc = await balanceOf(alpha, { token: tokenOf(alpha, 'USDC'), wallet: vault })
  const native = await clientOf(beta).getBalance({ address: vault })
  const [first] = network.keys.deliverers
  const args = [first?.address ?? '0x'] as const
  const read = { address: vault, abi: geoVaultAbi, functionName: 'deliverers', args } as const

  expect(usdc).toBeGreaterThanOrEqual(1_000_000n * 10n ** 6n)
  expect(native).toBeGreaterThanOrEqual(400n * 10n ** 18n)
  expect(await clientOf(beta).readContract(read)).toBe(true)
})

test.each(['alpha', 'beta'])('the feeds on %s start at the prices of the network', async (name) => {
  const chain = chainNamed(name)
  const feeds = network.local.feeds.filter(({ chainId }) => chainId === chain.chainId)
  const prices = await Promise.all(
    feeds.map(async ({ asset, address }) => {
      const feed = { address: address as Address, abi: testFeedAbi, functionName: 'latestRoundData' } as const
      return [asset, (await clientOf(chain).readContract(feed))[1]]
    }),
  )

  expect(Object.fromEntries(prices)).toEqual({
    USDC: 100_000_000n,
    ETH: 250_000_000_000n,
    SOL: 15_000_000_000n,
    GEO: 50_000_000n,
    USDG: 100_000_000n,
    LINK: 2_000_000_000n,
  })
})

test('the Solana chain is listed last, with its mints, its escrow and both of its addresses', () => {
  const tokens = solana.tokens.map(({ symbol, decimals }) => [symbol, decimals])
  const { inventory, attester } = network.keys.solana

  expect(network.local.chains.map(({ family }) => family)).toEqual(['evm', 'evm', 'solana'])
  expect(solana).toMatchObject({ chainId: 31339, vault: inventory.address, attester: attester.address })
  expect(solana.wsUrl).toBe(solana.rpcUrl.replace('http', 'ws'))
  expect(Object.fromEntries(tokens)).toEqual({ SOL: 9, USDC: 6, GEO: 9, USDG: 6 })
  expect(solana.tokens[0]?.address).toBe('11111111111111111111111111111111')
})

test("the service's configuration has everything for the Solana chain", () => {
  const { chains } = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8'))
  const { inventory, attester, feePayers } = network.keys.solana
  const capPerHour = expect.stringMatching(/^[\d.]+$/)
  const tokens = solana.tokens.slice(1).map((token) => ({ ...token, asset: token.symbol, capPerHour }))

  expect(chains[2]).toEqual({
    ...{ chainId: 31339, name: 'solana', family: 'solana' },
    ...{ rpcUrls: [solana.rpcUrl], attesterRpcUrls: [solana.rpcUrl] },
    ...{ program: solana.program, vault: inventory.address, attester: attester.address },
    feePayers: addressesOf(feePayers),
    ...{ native: { symbol: 'SOL', asset: 'SOL', capPerHour }, tokens },
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 32 },
    blockMs: 100,
    ...{ exposureCapUsd: 25_000, fastCapUsd: 125_000, unclaimedCapUsd: 1_000_000_000 },
  })
})

test("the service's configuration has the decimals of every token, for a start while a chain is down", () => {
  const { chains } = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8'))
  const told = chains.map(({ tokens }: LocalChain) =>
    Object.fromEntries(tokens.map(({ symbol, decimals }) => [symbol, decimals])),
  )

  expect(told).toEqual([
    { USDC: 6, WETH: 18, GEO: 18, LINK: 18 },
    { USDC: 18, WETH: 18, GEO: 18, LINK: 18 },
    { USDC: 6, GEO: 9, USDG: 6 },
  ])
})

test('slots follow the clock, in their own process', async () => {
  const rpc = createSolanaRpc(solana.rpcUrl)
  const start = await rpc.getSlot({ commitment: 'processed' }).send()

  await vi.waitFor(async () => expect(await rpc.getSlot().send()).toBeGreaterThan(start), { timeout: 10_000 })
  expect(network.pids.solana).toHaveLength(1)
})

test('the vault holds no LINK, and may buy it from a pool with millions on both sides', async () => {
  for (const chain of [alpha, beta]) {
    const [link, usdc] = [tokenOf(chain, 'LINK'), tokenOf(chain, 'USDC')]
    const { adapter, pools } = chain.uniswapV3 ?? { adapter: '0x' as const, pools: [] }
    const wallet = pools.find(({ tokens }) => tokens.includes(link))?.address ?? '0x'
    const vault = chain.contracts?.vault ?? '0x'
    const read = { address: vault, abi: geoVaultAbi, functionName: 'adapters', args: [adapter] } as const

    expect(await balanceOf(chain, { token: link, wallet: vault })).toBe(0n)
    expect(await clientOf(chain).readContract(read)).toBe(true)
    const decimals = chain === alpha ? 6n : 18n
    const dollars = await balanceOf(chain, { token: usdc, wallet })
    expect(dollars / 10n ** decimals).toBeGreaterThanOrEqual(9_999_999n)
    expect(await balanceOf(chain, { token: link, wallet })).toBeGreaterThan(499_999n * 10n ** 18n)
  }
})

test('local.json and the configuration of the service are written before the network is ready', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(home, file), 'utf8'))

  expect(read('local.json')).toEqual(network.local)
  expect(read('service.json')).toMatchObject({
    network: 'local',
    attesters: { members: network.keys.attesters.map(({ address }) => address), threshold: 1 },
    quoteTtlMs: 5_000,
  })
})

test('the faucet mints a token and sends native coin, and the balance is visible when it answers', async () => {
  const wallet = newWallet()
  const token = tokenOf(beta, 'USDC')
  const minted = await ask({ chainId: beta.chainId, address: wallet, token, amount: '1500' })
  const tokens = await balanceOf(beta, { token, wallet })
  const sent = await ask({
    chainId: alpha.chainId,
    address: wallet,
    token: tokenOf(alpha, 'ETH'),
    amount: '42',
  })
  const coins = await clientOf(alpha).getBalance({ address: wallet })

  expect([minted.status, tokens, sent.status, coins]).toEqual([200, 1500n, 200, 42n])
  expect(minted.body.txHash).toMatch(/^0x[0-9a-f]{64}$/)
})

test('the faucet also serves the Solana chain', async () => {
  const address = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
  const given = await ask({ chainId: solana.chainId, address, token: 'SOL', amount: '1000000' })
  const { value } = await createSolanaRpc(solana.rpcUrl)
    .getBalance(address as SolanaAddress)
    .send()

  expect([given.status, value]).toEqual([200, 1_000_000n])
})

test('the faucet serves fifty requests at once', async () => {
  const wallets = Array.from({ length: 50 }, newWallet)
  const token = tokenOf(alpha, 'USDC')
  const answers = await Promise.all(
    wallets.map((address) => ask({ chainId: alpha.chainId, address, token, amount: '1000000' })),
  )
  const balances = await Promise.all(wallets.map((wallet) => balanceOf(alpha, { token, wallet })))

  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  expect(balances).toEqual(Array(50).fill(1_000_000n))
})

test.each([
  ['no JSON', 'hello', 'JSON'],
  ['an unknown chain', { chainId: 1 }, '31337, 31338, 31339'],
  ['a bad address', { chainId: 31337, address: '0x12' }, 'address'],
  [
    'a wrong checksum',
    { chainId: 31337, address: '0xd8DA6BF26964aF9D7eEd9e03E53415D37aA96045'.replace('d8', 'D8') },
    'checksum',
  ],
  ['an unknown token', { chainId: 31337, address: `0x${'1'.repeat(40)}`, token: 'DOGE' }, 'USDC'],
  ['a fraction', { chainId: 31337, address: `0x${'1'.repeat(40)}`, token: 'USDC', amount: '1.5' }, 'amount'],
  [
    'too much',
    { chainId: 31337, address: `0x${'1'.repeat(40)}`, token: 'USDC', amount: '1'.repeat(40) },
    'at most',
  ],
])('400 INVALID_REQUEST names the problem when the faucet receives %s', async (_, body, hint) => {
  const answer = await ask(body)

  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringContaining(hint) })
})

test('a killed faucet is back at the same address', async () => {
  network.kill('faucet')

  await vi.waitFor(async () => expect((await fetch(network.local.faucetUrl)).status).toBe(200), {
    timeout: 20_000,
  })
})

test('blocks follow the clock, stop on a halted chain, and continue when it is resumed', async () => {
  const client = clientOf(beta)
  const passes = async (chain: LocalChain, blocks: bigint) => {
    const start = await clientOf(chain).getBlockNumber()
    await vi.waitFor(
      async () => expect(await clientOf(chain).getBlockNumber()).toBeGreaterThan(start + blocks),
      {
        timeout: 10_000,
      },
    )
  }
  await passes(beta, 1n)

  await client.setIntervalMining({ interval: 0 })
  const halted = await client.getBlockNumber()
  await passes(alpha, 3n)
  expect(await client.getBlockNumber()).toBe(halted)
  await client.mine({ blocks: 1 })
  expect(await client.getBlockNumber()).toBe(halted + 1n)

  await client.setIntervalMining({ interval: 0.2 })
  await passes(beta, 1n)
})

test('the base fee never exceeds 0.1 gwei', async () => {
  const { baseFeePerGas } = await clientOf(alpha).getBlock()

  expect(baseFeePerGas).toBeLessThanOrEqual(100_000_000n)
})

test('a folder in use is refused, with advice', async () => {
  await expect(startNetwork({ home, service: false })).rejects.toThrow('GEOSWAP_HOME=')
})

test('a taken port is refused, with advice, and leaves nothing behind', async () => {
  const port = await findFreePort()
  const held = await holdPort(port)

  await expect(startNetwork({ port, service: false })).rejects.toThrow(`Port ${port} is taken`)
  await held?.release()
})
