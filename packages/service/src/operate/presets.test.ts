import { isAddress as isSolanaAddress } from '@solana/kit'
import { isAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { parseNetwork, TO_FILL_IN } from '../config/network-file.ts'
import type { Roles } from './family.ts'
import { listPresets, type Preset, readPreset } from './presets.ts'
import { createStarter } from './starter.ts'

const presets = listPresets().map((name) => readPreset(name) as Preset)
const NODE = 'https://node.example'
const address = (digit: number) => `0x${String(digit).repeat(40)}`
const roles = {
  treasury: address(1),
  keys: [
    { role: 'attester', address: address(2) },
    { role: 'relayer', address: address(3) },
    { role: 'authorization-relayer', address: address(9) },
    { role: 'deliverer', address: address(4) },
    { role: 'solana-program', address: 'Stake11111111111111111111111111111111111111' },
    { role: 'inventory', address: 'SysvarRent111111111111111111111111111111111' },
    { role: 'solana-attester', address: 'SysvarS1otHashes111111111111111111111111111' },
    { role: 'fee-input', address: 'SysvarC1ock11111111111111111111111111111111' },
    { role: 'fee-delivery', address: 'Vote111111111111111111111111111111111111111' },
  ],
} satisfies Roles

test('every documented chain has a preset', () => {
  expect(listPresets().sort()).toEqual([
    'arbitrum',
    'arbitrum-sepolia',
    'base',
    'base-sepolia',
    'bnb',
    'ethereum',
    'optimism',
    'polygon',
    'robinhood',
    'solana',
    'solana-devnet',
  ])
})

describe.each(presets)('the preset $name', (preset) => {
  const { feeds, tokens, genesisHash, l1FeeOracle } = preset

  test('cites a page for every address and hash', () => {
    const cited = [...feeds, ...tokens, genesisHash, l1FeeOracle].filter((each) => each !== undefined)
    expect(cited.length).toBeGreaterThan(2)
    for (const { source } of cited) expect(source).toMatch(/^https:\/\/[\w.-]+\/\S+$/)
  })

  test('cites the issuer’s page for feeds and Circle’s tokens, and a page for finality', () => {
    const ofCircle = preset.name === 'bnb' ? [] : tokens.filter(({ symbol }) => symbol === 'USDC')
    const hosts = { chainlink: 'docs.chain.link', pyth: 'docs.pyth.network' }
    for (const { official } of ofCircle) expect(official).toMatch(/^https:\/\/developers\.circle\.com\/\S+$/)
    for (const { official, kind } of feeds) expect(new URL(official ?? '').host).toBe(hosts[kind])
    expect(preset.finalitySource).toMatch(/^https:\/\/[\w.-]+\/\S+$/)
  })

  test('has the wrapped coin besides the native one', () => {
    const wrapped = tokens.find(({ symbol }) => symbol === `W${preset.native.symbol}`)
    expect(wrapped?.asset).toBe(preset.native.asset)
  })

  test('has addresses with their checksum', () => {
    const onChain = [...tokens.map((token) => token.address), ...(l1FeeOracle ? [l1FeeOracle.address] : [])]
    const proxies = feeds.flatMap((feed) => (feed.kind === 'chainlink' ? [feed.address] : []))
    const isRight = (text: string) => isAddress(text) && text !== text.toLowerCase()
    const isDigits = (text: string) => /^0x[0-9]{40}$/.test(text)
    const ours =
      preset.family === 'evm'
        ? onChain.filter((text) => !isDigits(text)).every(isRight)
        : onChain.every(isSolanaAddress)
    expect(ours).toBe(true)
    expect(proxies.every(isRight)).toBe(true)
  })

  test('becomes a configuration whose only gaps are the nodes', () => {
    const starter = JSON.stringify(createStarter([preset], roles), null, 2)
    const filled = starter.replaceAll(TO_FILL_IN, NODE)
    expect(parseNetwork(filled).problems).toEqual([])
    const { problems } = parseNetwork(starter)
    expect(problems.map(({ path }) => path)).toEqual(['/chains/0/rpcUrls/0', '/chains/0/attesterRpcUrls/0'])
    expect(problems.every(({ message }) => message.startsWith('has to be filled in'))).toBe(true)
  })
})

test('an asset is priced by the feeds of all chains of a configuration', () => {
  const [base, arbitrum] = ['base', 'arbitrum'].map((name) => readPreset(name) as Preset)
  if (!base || !arbitrum) throw new Error('No presets')
  const starter = JSON.stringify(createStarter([base, arbitrum], roles)).replaceAll(TO_FILL_IN, NODE)
  const { network, problems } = parseNetwork(starter)
  expect(problems).toEqual([])
  const eth = network.assets.find(({ name }) => name === 'ETH')
  expect(eth?.sources.map(({ kind }) => kind)).toEqual(['chainlink', 'pyth', 'chainlink'])
  expect(eth?.minSources).toBe(2)
})

test('an asset without a price source says what has to be filled in', () => {
  const preset = readPreset('robinhood') as Preset
  const feeds = preset.feeds.filter(({ asset }) => asset !== 'USDG')
  const starter = JSON.stringify(createStarter([{ ...preset, feeds }], roles))
  const ofAssets = parseNetwork(starter).problems.filter(({ path }) => path.startsWith('/assets'))

  expect(ofAssets).toMatchObject([
    { path: '/assets/1/sources/0', message: expect.stringContaining('docs/operations/prices.md') },
  ])
})
