import { writeFileSync } from 'node:fs'
import { type Address, getAddress, isAddress, type PublicClient } from 'viem'
import { createEvmClients } from '../../chains/evm/client.ts'
import { familyOf } from '../../chains/families.ts'
import { describeError, type Env, type Output, parseFlags, UsageError } from '../../command.ts'
import { COMMAND_PATIENCE_MS } from '../../compose/chains.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'
import { exportCalls } from '../evm/offline.ts'
import { withContracts } from '../family.ts'
import { parseCoins } from '../inventory/move-order.ts'
import { getChainConfig, parseSide, readChosen } from '../served.ts'
import { applyCalls, toSafeBatch } from './apply.ts'
import { guardianPart } from './plan.ts'
import { type ChainPlan, planChain, type Wishes } from './read-chain.ts'

export const TREASURY_HELP = `treasury plan [--config FILE] [--chain NAME] [--safe PREFIX] [--export FILE] [--json]
      [WISHES]
      Compares the configuration with the contracts and prints every call that the treasury has to make: deliverers,
      guardian, adapters, caps, claim caps, attester, uncollected credits. --safe also writes PREFIX-CHAIN.json for each
      chain, for the Transaction Builder of a Safe, --export all calls as unsigned transactions of a single key
      for a wallet elsewhere, which service send-signed sends.
  service treasury apply [--config FILE] [--chain NAME] [WISHES]
      Sends these calls, on each chain one after the other, paid and signed by GEOSWAP_TREASURY_KEY or the treasury of
      GEOSWAP_KEYSTORE. Stops on a chain at the first that fails; run it again to continue. When all is done it sends
      nothing.
  Both with --guardian: only what lowers caps and revokes deliverers, by GEOSWAP_GUARDIAN_KEY or the guardian of
  GEOSWAP_KEYSTORE.

  WISHES: --stock CHAIN:TOKEN=AMOUNT deposits what the vault lacks to hold AMOUNT, in whole coins.
  --revoke ADDRESS ends the right of a deliverer, adapter or guardian that left the configuration. Both can be
  repeated.`

export async function treasury(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command !== 'plan' && command !== 'apply')
    throw new UsageError('Unknown command: use treasury plan or treasury apply. Try --help.')
  const flags = parse(rest)
  const { network, isLocal } = readChosen(env, flags.config)
  const owner = ownerOf(network)
  const chains = chainsOf(network, flags.chain)
  const wishes = wishesOf(network, flags)
  const make = async (chain: EvmChainConfig, client?: PublicClient): Promise<ChainPlan> => {
    const whole = await plan(network, chain, wishes, client)
    return flags.guardian ? { chain, ...guardianPart(whole) } : whole
  }
  if (command === 'apply') {
    if (flags.safe !== undefined || flags.export !== undefined || flags.json)
      throw new UsageError('treasury apply writes no file.')
    return applyCalls(env, { network, chains, isLocal, byGuardian: flags.guardian, plan: make }, output)
  }
  const plans = await Promise.all(chains.map((chain) => make(chain)))
  const sender = flags.guardian ? guardianOf(network) : owner
  if (flags.json) output.out(toJson(sender, plans))
  else for (const each of plans) output.out(describePlan(sender, each))
  if (flags.safe !== undefined) writeBatches(flags.safe, { owner: sender, plans, output })
  if (flags.export !== undefined) {
    const batches = plans.map(({ chain, calls }) => ({ chain, from: sender, calls }))
    output.hint(`Wrote ${await exportCalls(flags.export, batches)} transactions to ${flags.export}.`)
  }
  return 0
}

async function plan(
  network: NetworkConfig,
  chain: EvmChainConfig,
  wishes: ReadonlyMap<number, Wishes>,
  client: PublicClient = createEvmClients({ urls: chain.rpcUrls, patienceMs: COMMAND_PATIENCE_MS }).client,
): Promise<ChainPlan> {
  try {
    return await planChain(client, { network, chain, wishes: wishes.get(chain.chainId) })
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new Error(`${chain.name}: ${describeError(error)}`, { cause: error })
  }
}

function describePlan(owner: Address, { chain, calls, notes, lacks, refused }: ChainPlan): string {
  const noted = [...refused, ...notes, ...lacks].map((note) => `${chain.name}: ${note}`)
  if (calls.length === 0) return [`${chain.name} (${chain.chainId}): nothing to call`, ...noted].join('\n')
  const lines = calls.flatMap(({ text, to, value, data }, index) => [
    `  ${index + 1}. ${text}`,
    `     to ${to} value ${value} data ${data}`,
  ])
  const counted = calls.length === 1 ? '1 call' : `${calls.length} calls`
  return [`${chain.name} (${chain.chainId}): ${counted} by ${owner}`, ...lines, ...noted].join('\n')
}

function toJson(owner: Address, plans: readonly ChainPlan[]): string {
  const chains = plans.map(({ chain, calls, notes, lacks, refused }) => ({
    chain: chain.name,
    chainId: chain.chainId,
    calls: calls.map(({ to, value, data, text }) => ({ to, value: String(value), data, text })),
    notes,
    lacks,
    refused,
  }))
  return JSON.stringify({ treasury: owner, chains }, null, 2)
}

type Batches = { owner: Address; plans: readonly ChainPlan[]; output: Output }

function writeBatches(prefix: string, { owner, plans, output }: Batches): void {
  for (const { chain, calls } of plans.filter(({ calls }) => calls.length > 0)) {
    const { chainId, name } = chain
    const file = `${prefix}-${name}.json`
    const batch = toSafeBatch({ chainId, name, treasury: owner, calls, at: Date.now() })
    writeFileSync(file, `${JSON.stringify(batch, null, 2)}\n`)
    output.hint(`Wrote ${file}.`)
  }
}

type Flags = {
  config?: string | undefined
  chain?: string | undefined
  safe?: string | undefined
  export?: string | undefined
  json: boolean
  guardian: boolean
  stock: readonly string[]
  revoke: readonly string[]
}

function parse(args: string[]): Flags {
  const text = { type: 'string' } as const
  const list = { type: 'string', multiple: true } as const
  const options = {
    config: text,
    chain: text,
    safe: text,
    export: text,
    stock: list,
    revoke: list,
    json: { type: 'boolean', default: false },
    guardian: { type: 'boolean', default: false },
  } as const
  const { stock = [], revoke = [], ...values } = parseFlags({ args, options }).values
  return { ...values, stock, revoke }
}

function ownerOf({ treasury: owner }: NetworkConfig): Address {
  if (!owner) throw new UsageError('The configuration has no treasury.')
  return getAddress(owner)
}

function guardianOf({ guardian }: NetworkConfig): Address {
  if (!guardian) throw new UsageError('The configuration has no guardian.')
  return getAddress(guardian)
}

function chainsOf(network: NetworkConfig, only: string | undefined): EvmChainConfig[] {
  const wanted = only === undefined ? network.chains : [getChainConfig(network, only)]
  const chains = withContracts(wanted)
  if (chains.length === 0) throw new UsageError('No EVM chain: other chains have no contracts to call.')
  return chains
}

/** The wishes of each chain. */
function wishesOf(network: NetworkConfig, { stock, revoke }: Flags): Map<number, Wishes> {
  const revoked = revoke.map((address) => {
    if (!isAddress(address)) throw new UsageError(`${address} is not an address.`)
    const used = [
      ...network.deliverers,
      ...adaptersIn(network),
      ...(network.guardian ? [network.guardian] : []),
    ]
    const isUsed = used.some((each) => each === address)
    if (isUsed) throw new UsageError(`${address} is in the configuration: remove it there first.`)
    return getAddress(address)
  })
  const stocks = stock.map((text) => parseStock(network, text))
  return new Map(
    network.chains.map(({ chainId }) => [
      chainId,
      { revoked, stocks: new Map(stocks.flatMap((each) => (each.chainId === chainId ? [each.entry] : []))) },
    ]),
  )
}

const adaptersIn = ({ venues = [] }: NetworkConfig) =>
  venues.flatMap((venue) => ('adapter' in venue ? [venue.adapter] : []))

function parseStock(network: NetworkConfig, text: string) {
  const [side = '', amount = '', ...more] = text.split('=')
  if (!side.includes(':') || more.length > 0)
    throw new UsageError(`${text} is not CHAIN:TOKEN=AMOUNT, such as base:USDC=1000.`)
  const { chainId, token } = parseSide(network, side)
  const chain = getChainConfig(network, String(chainId))
  const { traits, custodyOf } = familyOf(chain)
  if (!traits.hasContracts) {
    const { vault } = custodyOf(chain)
    throw new UsageError(`${chain.name} has no treasury: send ${side} to its vault ${vault} yourself.`)
  }
  // The decimals of the chain decide later; this refuses anything but a positive number.
  parseCoins(amount, { decimals: 36, symbol: side })
  return { chainId, entry: [token as Address, amount] as const }
}
