import {
  CONTRACT_CODE,
  type ContractName,
  CREATE2_PROXY,
  CREATE2_PROXY_CODE,
  CREATE2_PROXY_COST,
  CREATE2_PROXY_TRANSACTION,
  type Creation,
  type Deployment,
  hashCode,
  isCodeOf,
  planDeployment,
} from '@geoswap/protocol'
import {
  type Address,
  formatUnits,
  getAddress,
  type Hex,
  type PrivateKeyAccount,
  type PublicClient,
  recoverTransactionAddress,
  sliceHex,
  type TransactionSerializedLegacy,
} from 'viem'
import type { EvmVenue } from '../../chains/evm/venue.ts'
import { type Output, UsageError } from '../../command.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'
import { about } from '../../swap/gas-funding.ts'
import { buyingVenues } from '../../venues/registry.ts'
import { type Deploying, onEach, refuseTaken } from '../family.ts'
import { refuseLostTreasury } from '../treasury/read-chain.ts'
import { exportCalls } from './offline.ts'
import { type Included, openDeployer, openWallet } from './wallet.ts'

type Say = (text: string) => void
/** `configured`: its address in the file. */
type Placed = { name: ContractName; address: Address; configured: string }
const NAMES = ['vault', 'escrow', 'account'] as const

export async function deployContracts(
  chains: readonly EvmChainConfig[],
  { network, mode, exported, acceptsTreasury, env, output }: Deploying,
): Promise<boolean> {
  const plan = planOf(network)
  const account = mode === 'deploy' ? await openDeployer(env, network) : undefined
  if (mode !== 'verify-only' && !acceptsTreasury) await refuseLostTreasury(network, chains)
  const runs = await Promise.all(
    chains.map(async (chain) => {
      const venues = buyingVenues(network, chain.chainId)
      return { chain, plan, venues, mode, account, output, target: await createDeployTarget(chain, account) }
    }),
  )
  if (exported) {
    refuseTaken(network, exported.from)
    return exportCreations(runs, exported, output)
  }
  if (account) await refuseUnfunded(runs, account.address)
  return (await onEach(runs, deployOn)).every((isRight) => isRight)
}

type Run = {
  chain: EvmChainConfig
  target: DeployTarget
  plan: Deployment
  venues: readonly EvmVenue[]
  mode: Deploying['mode']
  account: PrivateKeyAccount | undefined
  output: Output
}

/** The creations that are missing, for a deployer whose key is elsewhere. */
async function exportCreations(
  runs: readonly Run[],
  { file, from }: { file: string; from: string },
  output: Output,
): Promise<boolean> {
  const batches = await Promise.all(
    runs.map(async ({ chain, target, plan, venues }) => {
      if (!(await target.hasProxy()))
        throw new UsageError(`${chain.name} has no CREATE2 deployer yet: \`deploy\` with a key creates it.`)
      const say = (text: string) => output.out(`${chain.name}: ${text}`)
      const { planned, adapters } = await place({ chain, plan, venues, target })
      if (isMisplaced(planned, say)) throw new UsageError('Nothing was written.')
      const all = [...plan.creations, ...adapters]
      const isThere = await Promise.all(all.map((creation) => exists(target, creation, say)))
      const missing = all.filter((_, index) => !isThere[index])
      const calls = missing.map(({ name, address, data }) => ({
        to: CREATE2_PROXY,
        data,
        text: `creates ${name} at ${address}`,
      }))
      return { chain, from: getAddress(from), calls }
    }),
  )
  output.out(`Wrote ${await exportCalls(file, batches)} transactions to ${file}.`)
  return true
}

/** True if the chain has everything in the plan, or could get it in a dry run. */
async function deployOn({ chain, target, plan, venues, mode, output }: Run): Promise<boolean> {
  const say = (text: string) => output.out(`${chain.name}: ${text}`)
  const { planned, adapters } = await place({ chain, plan, venues, target })
  if (isMisplaced(planned, say)) return false
  if (mode === 'verify-only') return verify(target, planned, say)
  const creations = [...plan.creations, ...adapters]
  if (mode === 'dry-run') return estimate(target, creations, say)
  await ensureProxy(target, say)
  for (const creation of creations) await ensureContract(target, creation, say)
  return verify(target, planned, say)
}

async function place({ chain, plan, venues, target }: Pick<Run, 'chain' | 'plan' | 'venues' | 'target'>) {
  const adapters = await Promise.all(
    venues.map(async (venue) => ({ ...(await venue.planAdapter(target.client)), configured: venue.adapter })),
  )
  const planned: Placed[] = [
    ...NAMES.map((name) => ({ name, address: plan.contracts[name], configured: chain.contracts[name] })),
    ...adapters,
  ]
  return { planned, adapters }
}

function isMisplaced(planned: readonly Placed[], say: Say): boolean {
  const wrong = planned.filter(({ address, configured }) => getAddress(configured) !== address)
  for (const { name, address, configured } of wrong)
    say(`the file has ${configured} as ${name}, but it will be at ${address}`)
  return wrong.length > 0
}

async function verify(target: DeployTarget, planned: readonly Placed[], say: Say) {
  const found = await Promise.all(
    planned.map(async ({ name, address }) => ({ name, address, ...(await target.look(name, address)) })),
  )
  for (const { name, address, state, hash } of found) {
    const ends = {
      right: `exists, code ${hash}`,
      missing: 'is missing',
      other: `has other code, ${hash}`,
    }
    say(`${name} ${address} ${ends[state]}`)
  }
  return found.every(({ state }) => state === 'right')
}

/** Refuses before anything is sent on any chain. */
async function refuseUnfunded(runs: readonly Run[], deployer: Address): Promise<void> {
  const missing = await Promise.all(
    runs.map(async ({ chain, target, plan }) => {
      const [balance, cost] = await Promise.all([
        target.client.getBalance({ address: deployer }),
        costOf(target, plan.creations),
      ])
      if (balance >= cost) return []
      const has = `${formatUnits(balance, 18)} ${chain.native.symbol}`
      const needs = `${about(cost * COST_TIMES, 18)} ${chain.native.symbol}`
      return [
        `${chain.name}: the deployer ${deployer} has ${has} and needs about ${needs}. Nothing was sent.`,
      ]
    }),
  )
  if (missing.flat().length > 0) throw new UsageError(missing.flat().join('\n'))
}

// Gas may become dearer, and a rollup charges for data on top.
const COST_TIMES = 2n

async function costOf(target: DeployTarget, creations: readonly Creation[]): Promise<bigint> {
  let cost = (await target.hasProxy()) ? 0n : CREATE2_PROXY_COST
  for (const { name, address, data } of creations) {
    const { state } = await target.look(name, address)
    if (state === 'missing') cost += (await target.estimate(data)).cost
  }
  return cost
}

async function estimate(target: DeployTarget, creations: readonly Creation[], say: Say): Promise<boolean> {
  let total = 0n
  if (!(await target.hasProxy())) {
    total += CREATE2_PROXY_COST
    say(`has no CREATE2 deployer yet: creating it costs ${inNative(CREATE2_PROXY_COST)}`)
  }
  for (const { name, address, data } of creations) {
    if (await exists(target, { name, address }, say)) continue
    const { gas, cost } = await target.estimate(data)
    total += cost
    say(`${name} ${address} would be created: about ${gas} gas, ${inNative(cost)}`)
  }
  say(total === 0n ? 'nothing to create' : `about ${inNative(total)} in total at the current gas price`)
  return true
}

async function ensureProxy(target: DeployTarget, say: Say): Promise<void> {
  if (await target.hasProxy()) return
  say('creating the CREATE2 deployer')
  await target.createProxy()
}

async function ensureContract(target: DeployTarget, { name, address, data }: Creation, say: Say) {
  if (await exists(target, { name, address }, say)) return
  const { gasUsed, cost, txHash } = await target.create(data)
  say(`${name} ${address} created: ${gasUsed} gas, ${inNative(cost)}, ${txHash}`)
}

async function exists(
  target: DeployTarget,
  { name, address }: Pick<Placed, 'name' | 'address'>,
  say: Say,
): Promise<boolean> {
  const { state, hash } = await target.look(name, address)
  if (state === 'other') throw new Error(`Another contract exists at ${address}, with code ${hash}`)
  if (state === 'right') say(`${name} ${address} already exists`)
  return state === 'right'
}

const inNative = (wei: bigint) => `${formatUnits(wei, 18)} of the native coin`

function planOf({ treasury, attesters }: NetworkConfig): Deployment {
  if (!treasury) throw new UsageError('The configuration has no treasury, which will own inventory and caps.')
  return planDeployment({
    treasury: getAddress(treasury),
    attesters: attesters.members.map((address) => getAddress(address)),
    threshold: attesters.threshold,
  })
}

type Estimate = { gas: bigint; cost: bigint }
type CodeCheck = { state: 'right' | 'missing' | 'other'; hash: Hex }

type DeployTarget = {
  client: PublicClient
  look(name: ContractName, address: Address): Promise<CodeCheck>
  hasProxy(): Promise<boolean>
  createProxy(): Promise<void>
  /** The gas and cost of a creation at the current gas price. A rollup may charge its data on top. */
  estimate(data: Hex): Promise<Estimate>
  create(data: Hex): Promise<Included>
}

/** Throws if the node serves another chain, before anything is sent. */
async function createDeployTarget(
  config: EvmChainConfig,
  account: PrivateKeyAccount | undefined,
): Promise<DeployTarget> {
  const { client, send, settle } = await openWallet(config, account)
  const codeAt = async (address: Address) => (await client.getCode({ address })) ?? '0x'
  const hasProxy = async () => (await codeAt(CREATE2_PROXY)) === CREATE2_PROXY_CODE

  return {
    client,
    async look(name, address) {
      const code = await codeAt(address)
      const runtime = CONTRACT_CODE[name]
      if (code === '0x') return { state: 'missing', hash: code }
      return { state: isCodeOf(code, runtime) ? 'right' : 'other', hash: hashCode(code, runtime) }
    },
    hasProxy,
    async createProxy() {
      const serializedTransaction = CREATE2_PROXY_TRANSACTION as TransactionSerializedLegacy
      const to = await recoverTransactionAddress({ serializedTransaction })
      const missing = CREATE2_PROXY_COST - (await client.getBalance({ address: to }))
      if (missing > 0n) await send({ to, value: missing })
      await settle(await client.sendRawTransaction({ serializedTransaction }))
    },
    async estimate(data) {
      // Without the proxy, estimates the bare creation without the salt, which costs nearly the same.
      const call = (await hasProxy()) ? { to: CREATE2_PROXY, data } : { data: sliceHex(data, 32) }
      const [gas, price] = await Promise.all([client.estimateGas(call), client.getGasPrice()])
      return { gas, cost: gas * price }
    },
    create: (data) => send({ to: CREATE2_PROXY, data }),
  }
}
