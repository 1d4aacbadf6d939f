import { getAddress } from 'viem'
import { asEvm } from '../chains/evm/connect.ts'
import { isContract } from '../chains/evm/verify-code.ts'
import type { ConnectedChain } from '../chains/families.ts'
import { type Findings, joinFindings, reasonOf } from '../chains/findings.ts'
import { describeError, UsageError } from '../command.ts'
import { floatOf } from '../compose/catalog.ts'
import { type Chains, findDifferences } from '../compose/chains.ts'
import { toAsked, toListFile } from '../compose/screening.ts'
import { type Env, optionalSecret } from '../config/secrets.ts'
import type { NetworkConfig } from '../config.ts'
import { type ReadList, readList } from '../screen/list.ts'
import { marksOf } from '../swap/gas.ts'
import { describeGasNeed, fundingOf } from '../swap/gas-funding.ts'
import type { Senders } from '../swap/served-chain.ts'
import type { KeyGas } from './family.ts'
import { vaultOf } from './inventory/holdings.ts'
import { findTreasuryLost, planChain } from './treasury/read-chain.ts'

// Checks of nodes and chains that `check-config --online` and `doctor` share.

const NOTHING: Findings = { problems: [], warnings: [] }

/** Everything that a start checks, on each of the nodes. */
export async function checkChains(chains: Chains): Promise<Findings> {
  return checkEach(chains, async (chain) => {
    const { problems, warnings, closed = [] } = await findDifferences({ all: [chain] })
    const ofTokens = closed.map(({ why }) => `${why}: the token is closed`)
    return { problems: [...problems, ...ofTokens], warnings }
  })
}

/** Calls that the treasury has not made, and changes that wait. */
export async function checkTreasury(network: NetworkConfig, chains: Chains): Promise<Findings> {
  const missing = checkEach(chains, async (connected) => {
    const evm = asEvm(connected)
    if (!evm) return NOTHING
    const { name } = evm.config
    const { calls, notes, refused } = await planChain(evm.client, { network, chain: evm.config })
    return {
      problems: [
        ...calls.map(({ text }) => `${name}: the treasury has to call ${text}`),
        ...refused.map((problem) => `${name}: ${problem}`),
      ],
      warnings: notes.map((note) => `${name}: ${note}`),
    }
  })
  const lost = await findTreasuryLost(network, [])
  return joinFindings([await missing, { problems: lost === undefined ? [] : [lost], warnings: [] }])
}

/** Keys without gas. */
export async function checkGas(network: NetworkConfig, chains: Chains): Promise<Findings> {
  return checkEach(chains, async (chain) => ({
    problems: findDry(await readChainGas(network, chain)),
    warnings: [],
  }))
}

/** A chain that cannot be read is a problem of its own. */
export async function checkEach(
  { all }: Pick<Chains, 'all'>,
  check: (chain: ConnectedChain) => Promise<Findings>,
): Promise<Findings> {
  const found = all.map((chain) =>
    check(chain).catch(
      (error: unknown): Findings => ({
        problems: [describeFailure(chain.config.name, error)],
        warnings: [],
      }),
    ),
  )
  return joinFindings(await Promise.all(found))
}

function describeFailure(name: string, error: unknown): string {
  if (error instanceof UsageError) return error.message
  return `${name} cannot be read: ${reasonOf(error).split('\n')[0]}`
}

export type ChainGas = { connected: ConnectedChain; keys: readonly KeyGas[] }

const ROLES: readonly (keyof Senders)[] = ['relay', 'authorize', 'deliver']
const NAMES = { relay: 'relayer', authorize: 'authorization-relayer', deliver: 'deliverer' }

/** Reads the balance and the need of every key of a chain that sends transactions. */
async function readChainGas(
  network: NetworkConfig,
  connected: ConnectedChain,
  swaps?: bigint,
): Promise<ChainGas> {
  const { chain, senders, retiring } = connected
  const costs = await chain.readLegCosts(await chain.readHeads())
  const float = floatOf(network, connected)
  const { dry } = marksOf(costs, float?.limits)
  const sending = ROLES.flatMap((role) =>
    senders[role]
      .filter((address) => !retiring.includes(address))
      .map((address) => ({
        role: NAMES[role],
        address,
        needs: fundingOf(role, costs, { float, swaps }),
      })),
  )
  const treasury = await findPayingTreasury(network, connected)
  const treasuries = treasury
    ? [{ role: 'treasury', address: treasury, needs: TREASURY_GAS * costs.gasPrice }]
    : []
  // A vault with tokens alone needs as much as keeps its account.
  const vaults =
    !connected.contracts && connected.readLeastBalance
      ? [{ role: 'vault', address: vaultOf(connected), needs: await connected.readLeastBalance() }]
      : []
  const floats = float ? [{ role: 'float', address: float.address, needs: float.limits.maxPerDay }] : []
  const keys = await Promise.all(
    [...sending, ...floats, ...vaults, ...treasuries].map(async (key) => {
      const balance = await connected.readGasBalance(key.address)
      const isDry = !IDLE_ROLES.has(key.role) && balance < dry
      return { ...key, balance, isDry }
    }),
  )
  return { connected, keys }
}

// They send nothing in a swap.
const IDLE_ROLES = new Set(['treasury', 'vault'])
// Thirty calls of 60,000 gas, at twice the fees.
const TREASURY_GAS = 3_600_000n

/** A treasury without code is a key, which pays for its calls. */
async function findPayingTreasury({ treasury }: NetworkConfig, connected: ConnectedChain) {
  const evm = asEvm(connected)
  if (!evm || treasury === undefined) return undefined
  const address = getAddress(treasury)
  return isContract(await evm.client.getCode({ address })) ? undefined : address
}

export function readAllGas(network: NetworkConfig, { all }: Pick<Chains, 'all'>, swaps?: bigint) {
  return Promise.all(
    all.map((connected) =>
      readChainGas(network, connected, swaps).catch((error: unknown) => {
        throw new Error(`${connected.config.name}: ${describeError(error)}`, { cause: error })
      }),
    ),
  )
}

/** Keys that cannot work. */
function findDry({ connected, keys }: ChainGas): string[] {
  const { config, nativeToken } = connected
  const coin = { symbol: config.native.symbol, decimals: nativeToken.decimals }
  return keys
    .filter(({ isDry }) => isDry)
    .map(({ address, needs }) => `${config.name}: ${describeGasNeed(address, config.name, needs, coin)}`)
}

type ScreenSource = NonNullable<NetworkConfig['screening']>['sources'][number]
type ListSource = Extract<ScreenSource, { kind: 'list' }>
type Report = Findings & { facts: string[] }

// Every chain has it, and nobody's key: a source that answers has an opinion.
const PROBE = { address: '0x000000000000000000000000000000000000dEaD', role: 'wallet' } as const
const DEFAULT_MAX_AGE_HOURS = 48

/** Reads each list with its signature, and asks each contract and service about one address. */
export async function checkScreening(
  env: Env,
  { screening }: NetworkConfig,
  chains: Chains,
): Promise<Report> {
  const { sources = [] } = screening ?? {}
  const token = optionalSecret(env, 'GEOSWAP_SCREENING_TOKEN', [])?.reveal()
  const found = sources.map((source) =>
    source.kind === 'list' ? checkList(source) : checkAsked(source, { chains, token }),
  )
  const reports = await Promise.all(found)
  return { ...joinFindings(reports), facts: reports.flatMap(({ facts }) => facts) }
}

async function checkList(source: ListSource): Promise<Report> {
  try {
    return judgeList(source, await readList(toListFile(source)), Date.now())
  } catch (error) {
    return { problems: [`${source.name}: ${reasonOf(error)}`], warnings: [], facts: [] }
  }
}

export function judgeList(
  { name, publicKey, maxAgeHours = DEFAULT_MAX_AGE_HOURS }: ListSource,
  { reasons, version, changedAt }: ReadList,
  now: number,
): Report {
  const hours = Math.floor((now - changedAt) / 3_600_000)
  const signed = publicKey === undefined ? 'not signed' : 'signed'
  const facts = [`${name}: ${reasons.size} addresses, version ${version}, ${signed}, ${hours} hours old`]
  const warnings = hours >= maxAgeHours ? [`${name}: its list is ${hours} hours old`] : []
  return { problems: [], warnings, facts }
}

type Asking = { chains: Chains; token: string | undefined }

async function checkAsked(
  source: Exclude<ScreenSource, ListSource>,
  { chains, token }: Asking,
): Promise<Report> {
  const chainId = source.kind === 'http' ? (chains.all[0]?.config.chainId ?? 0) : source.chainId
  const asked = toAsked(source, { chains, caller: 'doctor', token })
  const answer = await asked.ask({ ...PROBE, chainId }).catch(() => undefined)
  if (answer && answer.kind !== 'unknown')
    return { problems: [], warnings: [], facts: [`${source.name}: it answers`] }
  return { problems: [`${source.name}: it gives no plain answer about an address`], warnings: [], facts: [] }
}
