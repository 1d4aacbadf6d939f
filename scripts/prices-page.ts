import { legCostsAt } from '../packages/service/src/chains/evm/fees.ts'
import { familyOf } from '../packages/service/src/chains/families.ts'
import { inputCostLamports, paymentCostLamports } from '../packages/service/src/chains/solana/fees.ts'
import { type Preset, readPreset } from '../packages/service/src/operate/presets.ts'
import { chooseVenue } from '../packages/service/src/stages/quote/choose.ts'
import { termsOf } from '../packages/service/src/stages/quote/costs.ts'
import { describePrice } from '../packages/service/src/stages/quote/describe.ts'
import type { Order } from '../packages/service/src/stages/quote/request.ts'
import { tenTo } from '../packages/service/src/swap/amount.ts'
import type { CatalogChain, LegCosts, Market, Token } from '../packages/service/src/swap/catalog.ts'
import { defaultFees } from '../packages/service/src/swap/fees.ts'
import { createInventory } from '../packages/service/src/venues/inventory/inventory.ts'

/** Gas price, and the price of a byte on L1, in thousandths of a gwei; of a Solana compute unit in micro-lamports. */
type Gas = { milliGwei: bigint; milliGweiPerByte?: bigint } | { microLamports: bigint }

/** As on the mainnet shape of the tests, and for other chains of the same order. */
const GAS: Readonly<Record<string, Gas>> = {
  ethereum: { milliGwei: 1_000n },
  base: { milliGwei: 10n, milliGweiPerByte: 920n },
  optimism: { milliGwei: 10n, milliGweiPerByte: 920n },
  arbitrum: { milliGwei: 10n, milliGweiPerByte: 1_000n },
  polygon: { milliGwei: 50_000n },
  bnb: { milliGwei: 100n },
  solana: { microLamports: 10_000n },
}
const USD: Readonly<Record<string, number>> = { USDC: 1, ETH: 2_500, SOL: 150, BNB: 600, POL: 0.25 }
const INVENTORY_USD = 250_000n
const SIZES = [100, 1_000, 10_000]

const ROUTES = [
  ['base', 'arbitrum'],
  ['arbitrum', 'base'],
  ['base', 'optimism'],
  ['base', 'ethereum'],
  ['ethereum', 'base'],
  ['base', 'polygon'],
  ['base', 'bnb'],
  ['base', 'solana'],
  ['solana', 'base'],
] as const

/** Fees of a same-asset transfer by published lists, in basis points of the amount and USD, without network fees. */
const LISTS = [
  {
    name: 'Relay',
    says: '0 % between the same token, 0.02 USD, gas of the fill',
    source: 'https://docs.relay.link/references/api/api_core_concepts/fees.md',
    bps: 0,
    usd: 0.02,
  },
  {
    name: 'CCTP Standard Transfer',
    says: 'free; minted after finality of the origin',
    source: 'https://developers.circle.com/cctp/concepts/fees.md',
    bps: 0,
    usd: 0,
  },
  {
    name: 'CCTP Fast Transfer',
    says: '0 to 14 bps by origin; an older list has 1 from Ethereum, Base, Arbitrum and OP Mainnet',
    source: 'https://www.mintlify.com/circlefin/cctp-go/concepts/fees',
    bps: 1,
    usd: 0,
  },
  {
    name: 'deBridge',
    says: '4 bps and 0.001 ETH from Base, Arbitrum, Optimism and Ethereum; the margin of the solver',
    source: 'https://docs.debridge.com/dln-details/overview/fees-supported-chains.md',
    bps: 4,
    usd: 0.001 * (USD['ETH'] ?? 0),
  },
]

/** docs/prices.md: the whole cost of swaps at stated gas prices, beside published price lists. */
export function pricesPage(): string {
  const head = (first: string) => [
    `| ${first} | ${SIZES.map((usd) => `${usd.toLocaleString('en')} USDC`).join(' | ')} |`,
    `|---|${SIZES.map(() => '---:').join('|')}|`,
  ]
  const ours = ROUTES.map(([from, to]) => {
    const costs = SIZES.map((usd) => bpsOf(from, to, usd).toFixed(2))
    return `| ${nameOf(from)} to ${nameOf(to)} | ${costs.join(' | ')} |`
  })
  const theirs = LISTS.map(({ name, bps, usd, says, source }) => {
    const costs = SIZES.map((size) => (bps + (usd / size) * 10_000).toFixed(2))
    return `| [${name}](${source}) | ${costs.join(' | ')} | ${says} |`
  })
  return `${[
    '# Prices',
    '',
    'Generated from the pricing code of quotes (`scripts/prices-page.ts`).',
    '',
    '## What a swap of USDC costs',
    '',
    'In basis points of the input: service fee, network costs of both chains, price impact. The wallet is delegated,',
    `fees are the defaults, and each vault holds ${INVENTORY_USD.toLocaleString('en')} USDC.`,
    '',
    ...head('from and to'),
    ...ours,
    '',
    'These gas prices are assumptions, in part those of the [mainnet shape](../packages/devnet/src/shape/README.md):',
    '',
    '| chain | gas price | byte on L1 | coin, USD |',
    '|---|---:|---:|---:|',
    ...Object.entries(GAS).map(describeGas),
    '',
    '## What others list',
    '',
    'Basis points for the same token, without the network fees that each adds. The wallet pays these in gas coin,',
    'except with Relay. No page states a date: they were read on 2026-11-19 in stored copies, whose age is not known.',
    '',
    `${head('list')[0]} says |`,
    `${head('list')[1]}---|`,
    ...theirs,
    '',
    'Across publishes [how it computes fees](https://docs.across.to/introduction/fees), not a list.',
  ].join('\n')}\n`
}

function describeGas([name, gas]: [string, Gas]): string {
  const coin = (USD[chainOf(name).native.asset] ?? 0).toLocaleString('en')
  if ('microLamports' in gas)
    return `| ${nameOf(name)} | ${gas.microLamports.toLocaleString('en')} micro-lamports a unit | | ${coin} |`
  const perByte = gas.milliGweiPerByte
  const data = perByte === undefined ? '' : `${Number(perByte) / 1_000} gwei`
  return `| ${nameOf(name)} | ${Number(gas.milliGwei) / 1_000} gwei | ${data} | ${coin} |`
}

const nameOf = (name: string) => (name === 'bnb' ? 'BNB' : `${name[0]?.toUpperCase()}${name.slice(1)}`)

/** The whole cost of a swap of this many USDC, in basis points. */
export function bpsOf(from: string, to: string, usd: number): number {
  const [origin, destination] = [chainOf(from), chainOf(to)]
  const [input, output] = [usdcOf(origin), usdcOf(destination)]
  const amount = BigInt(usd) * tenTo(input.decimals)
  const order: Order = {
    ...{ origin, destination, input, output, amount },
    ...{ wallet: 'wallet', recipient: 'wallet', leastOutput: 0n },
    ...{ slippageBps: 50, tradeType: 'exactInput', integratorCentiBps: 0 },
  }
  const fee = { feeCentiBps: defaultFees.sameAssetCentiBps, integratorCentiBps: 0 }
  const base = termsOf(market, order, { ...fee, delegated: true, isPayment: false, accountRent: 0n })
  const choice = chooseVenue([createInventory([], { market, shareOf: (held) => held })], order, base)
  const { fees } = describePrice(choice, 10_000)
  const cost = fees.reduce((sum, each) => sum + BigInt(each.amount), 0n)
  return Number((cost * 1_000_000n) / amount) / 100
}

const chains = new Map(Object.keys(GAS).map((name) => [name, toChain(getPreset(name))]))
const costs = new Map(Object.entries(GAS).map(([name, gas]) => [chainOf(name).chainId, costsAt(gas)]))

function chainOf(name: string): CatalogChain {
  const chain = chains.get(name)
  if (!chain) throw new Error(`There is no chain ${name}`)
  return chain
}

function usdcOf({ name, tokens }: CatalogChain): Token {
  const usdc = tokens.find(({ asset }) => asset === 'USDC')
  if (!usdc) throw new Error(`The preset of ${name} has no USDC`)
  return usdc
}

function getPreset(name: string): Preset {
  const preset = readPreset(name)
  if (!preset) throw new Error(`There is no preset ${name}`)
  return preset
}

function toChain({ chainId, name, family, native, tokens, finality, blockMs }: Preset): CatalogChain {
  const { nativeToken } = familyOf({ family })
  return {
    ...{ chainId, name, family, finality, blockSeconds: blockMs / 1_000, ownAddresses: [] },
    native: { ...native, ...nativeToken, chainId },
    tokens: tokens.map((token) => ({ ...token, chainId })),
    maxAmount: tenTo(30),
  }
}

function costsAt(gas: Gas): LegCosts {
  if ('microLamports' in gas) {
    const rent = {
      ...{ emptyLamports: 0n, tokenAccountLamports: 0n },
      ...{ token2022AccountLamports: 0n, markerLamports: 0n },
    }
    const lock = inputCostLamports(gas.microLamports)
    const delivery = paymentCostLamports({ rent, microLamportsPerUnit: gas.microLamports })
    return { lock, firstLock: lock, delivery, purchase: delivery, gasPrice: 0n }
  }
  const [baseFee, perByte] = [gas.milliGwei, gas.milliGweiPerByte ?? 0n].map((milli) => milli * tenTo(6))
  return legCostsAt({ baseFee: baseFee ?? 0n, tip: 0n, data: { weiPerByte: `${perByte}` } }, [])
}

const priceOf = (asset: string) => BigInt(Math.round((USD[asset] ?? 0) * 1e6)) * tenTo(12)

const market: Market = {
  priceOf,
  exchangeOf: (input, output) => ({ input: priceOf(input), output: priceOf(output) }),
  chainNow(chainId) {
    const known = costs.get(chainId)
    return known && { seconds: 0, block: 1n, height: 1n, costs: known }
  },
  canSend: () => true,
  mostInput: () => tenTo(30),
  exposureRoom: () => tenTo(30),
  available(chainId, address) {
    const token = [...chains.values()].find((chain) => chain.chainId === chainId)?.tokens
    const decimals = token?.find((each) => each.address === address)?.decimals ?? 0
    return INVENTORY_USD * tenTo(decimals)
  },
}
