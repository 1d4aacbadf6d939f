import { formatUnits } from 'viem'
import { createSolanaClient, type SolanaClients } from '../../chains/solana/client.ts'
import {
  createProgram,
  type DeployedProgram,
  ESCROW_PROGRAM_HASH,
  finishProgram,
  readDeploymentCost,
  readProgram,
} from '../../chains/solana/deployment.ts'
import { createAccounts, findMissingAccounts, type MissingAccount } from '../../chains/solana/send.ts'
import type { SolanaKey } from '../../chains/solana/settings.ts'
import { type Env, UsageError } from '../../command.ts'
import type { NetworkConfig, SolanaChainConfig } from '../../config.ts'
import { about } from '../../swap/gas-funding.ts'
import { type Deploying, openKey, openPayer, readKey } from '../family.ts'

/** Pays for deployments, and gives gas to the other keys. */
export const payer = { role: 'solana-deployer', variable: 'GEOSWAP_SOLANA_DEPLOYER_KEY' } as const

export async function openSolanaDeployer(env: Env, network: NetworkConfig): Promise<SolanaKey> {
  return (await openPayer(env, network, payer)) as SolanaKey
}

type Say = (text: string) => void
type Found = { program: DeployedProgram; missing: readonly MissingAccount[] }

const SOL_DECIMALS = 9
// Of all transactions of a run, and the least that keeps the payer's account.
const RESERVE_LAMPORTS = 1_500_000n

/**
 * Uploads the escrow program to its address in the file and creates the vault's token accounts, or compares them. True
 * if all is there and right.
 */
export async function deployProgram(chain: SolanaChainConfig, deploying: Deploying): Promise<boolean> {
  const { network, mode, isFinal, env, output } = deploying
  const say = (text: string) => output.out(`${chain.name}: ${text}`)
  const client = createSolanaClient({ urls: chain.rpcUrls })
  await assertCluster(client, chain)
  const found = await look(client, chain)
  if (mode === 'verify-only') return verify(say, chain, found)
  const { program, missing } = found
  if (program.state === 'other') throw new Error(`Another program exists at ${chain.program}`)
  if (program.state === 'right') say(`escrow program ${chain.program} already exists`)
  if (mode === 'dry-run') return estimate(client, chain, found, say)
  const ofProgram = program.state === 'missing' ? await openProgramKey(env, chain.program) : undefined
  const deployer = await openSolanaDeployer(env, network)
  await refuseUnfunded(client, chain, { found, deployer: deployer.address })
  if (ofProgram)
    say(`escrow program ${chain.program} created: ${await createProgram(client, { deployer, ...ofProgram })}`)
  const created = await createAccounts(client, deployer, { vault: chain.vault, missing })
  if (missing.length > 0)
    say(`${namesOf(chain, missing)} of the vault ${chain.vault} created: ${created.join(', ')}`)
  const other = isFinal ? await finishProgram(client, deployer, chain.program) : undefined
  if (other)
    throw new UsageError(`Only ${other} can make the program final, and the deployer is another key.`)
  return verify(say, chain, await look(client, chain))
}

/** Throws if the node serves another cluster. */
export async function assertCluster(
  { rpc }: SolanaClients,
  { name, genesisHash }: SolanaChainConfig,
): Promise<void> {
  const actual = await rpc.getGenesisHash().send()
  if (genesisHash !== undefined && actual !== genesisHash)
    throw new UsageError(`${name}: the node serves the chain of genesis ${actual}, not ${genesisHash}`)
}

async function look(client: SolanaClients, { program, vault, tokens }: SolanaChainConfig): Promise<Found> {
  const mints = tokens.map(({ address }) => address)
  const [found, missing] = await Promise.all([
    readProgram(client, program),
    findMissingAccounts(client, { vault, mints }),
  ])
  return { program: found, missing }
}

/** Such as `token account of USDC`. */
function namesOf({ tokens }: SolanaChainConfig, missing: readonly MissingAccount[]): string {
  const symbols = missing.map(({ token }) => tokens.find(({ address }) => address === token.mint)?.symbol)
  return `token account${missing.length === 1 ? '' : 's'} of ${symbols.join(', ')}`
}

function verify(
  say: Say,
  chain: SolanaChainConfig,
  { program: { state, authority }, missing }: Found,
): boolean {
  const ends = {
    right: `exists, code ${ESCROW_PROGRAM_HASH}, ${authority ? `${authority} can change it` : 'final'}`,
    missing: 'is missing',
    other: 'has other code',
  }
  say(`escrow program ${chain.program} ${ends[state]}`)
  if (missing.length > 0) say(`the vault ${chain.vault} has no ${namesOf(chain, missing)}`)
  return state === 'right' && missing.length === 0
}

/** The rent of accounts that do not exist yet. That of the upload comes back. */
async function readCost(client: SolanaClients, { program, missing }: Found): Promise<bigint> {
  const rents = missing.reduce((sum, { rent }) => sum + rent, 0n)
  return rents + (program.state === 'missing' ? await readDeploymentCost(client) : 0n)
}

async function estimate(
  client: SolanaClients,
  chain: SolanaChainConfig,
  found: Found,
  say: Say,
): Promise<boolean> {
  const { program, missing } = found
  if (program.state === 'missing') say(`escrow program ${chain.program} would be created`)
  if (missing.length > 0) say(`${namesOf(chain, missing)} of the vault ${chain.vault} would be created`)
  const cost = await readCost(client, found)
  say(cost === 0n ? 'nothing to create' : `about ${about(cost, SOL_DECIMALS)} SOL in total`)
  return true
}

/** Refuses before anything is sent on this chain. */
async function refuseUnfunded(
  client: SolanaClients,
  { name }: SolanaChainConfig,
  { found, deployer }: { found: Found; deployer: Parameters<SolanaClients['rpc']['getBalance']>[0] },
): Promise<void> {
  const cost = await readCost(client, found)
  const { value: balance } = await client.rpc.getBalance(deployer).send()
  if (cost === 0n || balance >= cost + RESERVE_LAMPORTS) return
  const needs = about(cost + RESERVE_LAMPORTS, SOL_DECIMALS)
  const has = `has ${formatUnits(balance, SOL_DECIMALS)} SOL and needs about ${needs}`
  throw new UsageError(`${name}: the deployer ${deployer} ${has}. Nothing was sent there.`)
}

const PROGRAM = { role: 'solana-program', variable: 'GEOSWAP_SOLANA_PROGRAM_KEY' } as const

/** Needed once: an existing program obeys its deployer alone. */
async function openProgramKey(env: Env, address: string) {
  const program = (await openKey(env, PROGRAM)) as SolanaKey
  if (program.address !== address)
    throw new UsageError(`The file has ${address} as program, but its key is that of ${program.address}.`)
  return { program, programSecret: readKey(env, PROGRAM) }
}
