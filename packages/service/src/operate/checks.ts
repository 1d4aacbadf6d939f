import { type Findings, joinFindings, reasonOf } from '../chains/findings.ts'
import { UsageError } from '../command.ts'
import { type Chains, connectChains, findDifferences } from '../compose/chains.ts'
import type { ConnectedChain } from '../compose/connected-chain.ts'
import type { EvmChainConfig, NetworkConfig } from '../config.ts'
import { findDry, readChainGas } from './gas.ts'
import { planChain } from './treasury/read-chain.ts'
import { findTreasuryLost } from './treasury/treasury-code.ts'

// Checks of nodes and chains that `check-config --online` and `doctor` share.

const NOTHING: Findings = { problems: [], warnings: [] }

/** Connects with the nodes of API and worker, or with those of the attester. Makes no call. */
export function connectForChecks(network: NetworkConfig, nodes: 'rpcUrls' | 'attesterRpcUrls'): Chains {
  const shared = { network, accounts: [], signers: [], findSigned: undefined }
  return connectChains({ ...shared, urlsOf: (chain) => chain[nodes] })
}

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
  const calls = checkEach(chains, async ({ config, evm }) => {
    if (!evm) return NOTHING
    const { name } = config
    const { calls, notes, refused } = await planChain(evm.client, {
      network,
      chain: config as EvmChainConfig,
    })
    return {
      problems: [
        ...calls.map(({ text }) => `${name}: the treasury has to call ${text}`),
        ...refused.map((problem) => `${name}: ${problem}`),
      ],
      warnings: notes.map((note) => `${name}: ${note}`),
    }
  })
  const lost = await findTreasuryLost(network, [])
  return joinFindings([await calls, { problems: lost === undefined ? [] : [lost], warnings: [] }])
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
