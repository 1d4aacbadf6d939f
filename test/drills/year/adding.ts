import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { createWorld } from '../../world.ts'
import { type Month, restart, service } from './month.ts'
import { createFeed, createToken, GAMMA, mint, startGamma, strangerOn } from './others.ts'
import { swapTo } from './swap-to.ts'

const USDC = 1_000_000n
const GOLD = { symbol: 'GOLD', decimals: 8 }
const SOL = 10n ** 9n
const STOCK = 50_000n * USDC
const FINALITY = { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4 }

/** Each part has a folder of its own, as `service setup` makes them. */
const SOLANA_KEYS = {
  worker: ['inventory', 'fee-input', 'fee-delivery'],
  attester: ['solana-attester'],
  operator: ['solana-deployer', 'solana-program'],
}

export async function addSolana(month: Month): Promise<void> {
  const { world, solana, processes, folder } = month
  const keystore = (part: string) => join(folder, 'keystore', part)
  const made = new Map<string, string>()
  for (const [part, roles] of Object.entries(SOLANA_KEYS))
    for (const role of roles) {
      const text = await service(month, `keys generate --role ${role} --out ${keystore(part)}`)
      made.set(role, text.trim())
    }
  const local = world.local.chains.find(({ family }) => family === 'solana')
  if (!local) throw new Error('The network has no Solana')
  const usdc = { symbol: 'USDC', asset: 'USDC', decimals: 6, address: solana.token('USDC') }
  const file = writePreset(month, {
    ...{ chainId: local.chainId, name: 'solana', family: 'solana', native: { symbol: 'SOL', asset: 'SOL' } },
    ...{ finality: { ...FINALITY, hard: 32 }, blockMs: 100, tokens: [usdc] },
    genesisHash: { value: await solana.rpc.getGenesisHash().send() },
  })
  const keystores = Object.keys(SOLANA_KEYS).map((part) => `--keystore ${keystore(part)}`)
  const nodes = `--node ${local.rpcUrl} --attester-node ${local.rpcUrl}`
  const asked = `add-chain ${file} ${nodes} ${keystores.join(' ')}`
  await service(month, `${asked} --dry-run`)
  await service(month, asked)
  month.secrets['GEOSWAP_KEYSTORE'] = keystore('operator')
  await solana.fund(made.get('solana-deployer') ?? '', 'SOL', 50n * SOL)
  month.happens('an exchange pays SOL to the deployer of solana')
  await service(month, 'deploy --chain solana --dry-run')
  await service(month, 'deploy --chain solana')
  await service(month, 'fund apply')
  const vault = made.get('inventory') ?? ''
  await solana.fund(vault, 'USDC', STOCK)
  month.moved('solana', STOCK)
  await solana.fund(vault, 'SOL', 100n * SOL)
  month.happens(`an exchange pays the stock to the vault ${vault}`)
  const { GEOSWAP_KEYSTORE_PASSPHRASE = '' } = month.secrets
  for (const part of ['worker', 'attester'] as const)
    Object.assign(processes.secrets[part], { GEOSWAP_KEYSTORE: keystore(part), GEOSWAP_KEYSTORE_PASSPHRASE })
  // A variable wins over the keystore.
  processes.secrets.worker['GEOSWAP_SOLANA_KEYS'] = ''
  processes.secrets.attester['GEOSWAP_SOLANA_ATTESTER_KEY'] = ''
  await restart(month)
  await service(month, 'deploy --chain solana --final')
  month.routes.push(['alpha', 'solana'], ['solana', 'beta'])
  await swapTo(month, { to: solana, buy: 'USDC' })
}

/** One token on each family, and one chain, with one restart for all of them. */
export async function addTokensAndChain(month: Month): Promise<void> {
  const { world, solana, secrets } = month
  const alpha = world.local.chains.find(({ name }) => name === 'alpha')
  if (!alpha) throw new Error('The network has no alpha')
  const on = strangerOn(month, alpha)
  const gold = await createToken(on, GOLD.symbol, GOLD.decimals)
  const feed = await createFeed(on, GOLD.symbol, 10n)
  await mint(on, gold, { to: on.treasury.address, amount: 1_000n * 10n ** 8n })
  const asked = `add-token --chain alpha --token ${gold} --cap 1000 --plain --feed alpha:${feed}:86400`
  await service(month, `${asked} --dry-run`)
  await service(month, asked)
  await service(month, 'treasury plan --chain alpha --stock alpha:GOLD=500')
  await service(month, 'treasury apply --chain alpha --stock alpha:GOLD=500')

  const usdg = solana.token('USDG')
  await service(month, `add-token --chain solana --token ${usdg} --symbol USDG --asset USDG --cap 20000`)
  await service(month, 'deploy --chain solana')
  await solana.fund(solanaIn(month).vault, 'USDG', STOCK)

  const gamma = await startGamma(month, secrets['GEOSWAP_DEPLOYER_KEY'] as Hex)
  month.added.push(gamma)
  const usdc = { symbol: 'USDC', asset: 'USDC', decimals: 6, plain: true, address: gamma.usdc }
  const native = { symbol: 'ETH', asset: 'ETH' }
  const finality = { ...FINALITY, hard: 4 }
  const file = writePreset(month, { ...GAMMA, family: 'evm', native, finality, tokens: [usdc] })
  const chain = `add-chain ${file} --node ${gamma.rpcUrl} --attester-node ${gamma.rpcUrl}`
  await service(month, `${chain} --dry-run`)
  await service(month, chain)
  await service(month, 'deploy --chain gamma')
  await service(month, 'fund apply')
  const stock = '--chain gamma --stock gamma:USDC=5000'
  await service(month, `treasury plan ${stock} --safe ${join(month.folder, 'batch')}`)
  await service(month, `treasury apply ${stock}`)
  await restart(month)

  const { contracts, uniswapV3 } = world.alpha
  const tokens = [{ ...usdc, address: gamma.usdc }]
  const added = { ...GAMMA, family: 'evm' as const, rpcUrl: gamma.rpcUrl, tokens, contracts, uniswapV3 }
  const withGold = { ...alpha, tokens: [...alpha.tokens, { ...GOLD, address: gold }] }
  const others = world.local.chains.filter((each) => each !== alpha)
  const now = createWorld({ ...world.local, chains: [...others, withGold as never, added] })
  await swapTo(month, { to: now.alpha, buy: 'GOLD' })
  await swapTo(month, { to: now.chainNamed('gamma'), buy: 'USDC' })
  await swapTo(month, { to: solana, buy: 'USDG' })
}

/** As the file has it now. */
export function solanaIn({ readConfig }: Month) {
  const found = readConfig().chains.find((chain) => chain.family === 'solana')
  if (found?.family !== 'solana') throw new Error('The file has no Solana')
  return found
}

function writePreset({ folder }: Month, preset: { name: string } & Record<string, unknown>): string {
  const file = join(folder, `${preset.name}.json`)
  writeFileSync(file, JSON.stringify(preset))
  return file
}
