import {
  type ChainConfig,
  type EvmChainConfig,
  familyOf,
  familyOfRole,
  type KeyRole,
} from '../chains/families.ts'
import type { Signer } from '../chains/family.ts'
import { describeError, type Env, type Output, UsageError } from '../command.ts'
import { rolesOf } from '../config/address-problems.ts'
import { listKeys } from '../config/keystore.ts'
import { readKeys, readSetting } from '../config/secrets.ts'
import type { NetworkConfig } from '../config.ts'
import type { Move } from '../store/inventory.ts'

/** The part of a family in the commands of an operator. Only `operate/families.ts` names the families. */
export type Operate<C = ChainConfig> = {
  /** The key that pays for deployments, and gives gas to the others. */
  payer: KeyName & { open(env: Env, network: NetworkConfig): Promise<Funder<C>> }
  /** Creates what the chains of the file need, or compares it. True if all of it is right. */
  deploy(chains: readonly C[], deploying: Deploying): Promise<boolean>
  /** The key that owns the inventory, and its name in the secrets of the local network. */
  owner: {
    role: KeyRole
    local: string
    /** Its address; undefined if a move of this kind may come from anyone. */
    addressOf(network: NetworkConfig, chain: C, kind: Move['kind']): string | undefined
  }
  /** Asks each node for its software. */
  readVersions(urls: readonly string[]): Promise<string>[]
  starter: StarterRules
  /** Of chains and tokens that are not served yet. */
  candidates: {
    /** As nodes of this chain name it. */
    idOf(chain: C): string | undefined
    readIds(urls: readonly string[]): Promise<string>[]
    /** Undefined if there is no token at the address. */
    readToken(
      network: NetworkConfig,
      chain: C,
      asked: { address: string; holder: string | undefined },
    ): Promise<Listing | undefined>
  }
  keys: SetupKeys & {
    /** Every address of the configuration with a role on these chains. */
    listHolders(network: NetworkConfig, chains: readonly C[]): Holder<C>[]
  }
}

/** A token as its chain tells it. `fault`: why it cannot be listed. */
export type Listing = { symbol: string | undefined; decimals: number; fault: string | undefined }

type KeyName = { role: KeyRole; variable: string }
export type Holder<C = ChainConfig> = { role: string; address: string; on: readonly C[] }

export type Deploying = {
  network: NetworkConfig
  mode: 'deploy' | 'dry-run' | 'verify-only' | 'export'
  /** The file of unsigned transactions, and their sender. */
  exported: { file: string; from: string } | undefined
  /** Gives up the right to change a program. */
  isFinal: boolean
  acceptsTreasury: boolean
  env: Env
  output: Output
}

/** A key that pays for gas. `isDry`: it may be unable to pay for its next transaction. */
export type KeyGas = { role: string; address: string; balance: bigint; needs: bigint; isDry: boolean }

/** Pays on the chains of one family. */
export type Funder<C = ChainConfig> = {
  address: string
  /** Needed beside the payments and their gas. */
  readReserve(chain: C): Promise<bigint>
  /** Pays what the keys lack, by balances that it reads itself, and returns how many it paid. */
  pay(chain: C, keys: readonly KeyGas[], say: (text: string) => void): Promise<number>
}

/** The parts of a new configuration that differ between families. */
type StarterRules = {
  custody(roles: Roles): object
  /** Of these caps in whole coins per hour, those that its chains can have. */
  caps(caps: Caps): object
}
export type Caps = Record<'capPerHour' | 'claimCapPerHour' | 'refundCapPerHour', string>
export type Roles = {
  treasury?: string | undefined
  /** Default: a majority of the attesters. */
  threshold?: number | undefined
  keys: readonly { role: KeyRole; address: string }[]
}

export const addressesOf = ({ keys }: Pick<Roles, 'keys'>, role: KeyRole): string[] =>
  keys.filter((key) => key.role === role).map(({ address }) => address)

export function thresholdOf(roles: Pick<Roles, 'threshold' | 'keys'>): number {
  return roles.threshold ?? Math.floor(addressesOf(roles, 'attester').length / 2) + 1
}

/** The keys of a new service. Enough to begin with: more work in parallel, and each needs gas on every chain. */
type SetupKeys = {
  worker: readonly (readonly [KeyRole, number])[]
  /** `isOne`: several attesters share one key, which the first holds. */
  attester: { role: KeyRole; isOne: boolean }
  /** Besides the payer. */
  operator: readonly KeyRole[]
}

/** The chains whose inventory a contract holds, which obeys a treasury. */
export function withContracts(chains: readonly ChainConfig[]): EvmChainConfig[] {
  return chains.filter((chain): chain is EvmChainConfig => familyOf(chain).traits.hasContracts)
}

export async function openPayer(env: Env, network: NetworkConfig, { role, variable }: KeyName) {
  const signer = await openKey(env, { role, variable })
  refuseTaken(network, signer.address)
  return signer
}

/** Keys of processes are refused: a nonce used here would look like a lost record of that process. */
export function refuseTaken(network: NetworkConfig, payer: string): void {
  const taken = rolesOf(network).find(({ address }) => address.toLowerCase() === payer.toLowerCase())
  if (taken) throw new UsageError(`${payer} is already ${taken.what}: pay with a separate key.`)
}

export async function openKey(env: Env, { role, variable }: KeyName): Promise<Signer> {
  return openSecret(role, readKey(env, { role, variable }))
}

export function readKey(env: Env, { role, variable }: KeyName): string {
  const problems: string[] = []
  const [key] = readKeys(env, variable, [role], problems)
  if (!key || problems.length > 0) throw new UsageError(problems.join('\n'))
  return key.reveal()
}

async function openSecret(role: KeyRole, secret: string): Promise<Signer> {
  const family = familyOfRole(role)
  if (!family) throw new Error(`No family has keys of ${role}`)
  return family.keys.open(secret)
}

/** The address of a payer in the keystore, without opening its key. */
export function findPayer(env: Env, { role, variable }: KeyName): string | undefined {
  const folder = env['GEOSWAP_KEYSTORE']
  const isGiven = readSetting(env, variable, []) !== undefined
  if (isGiven || folder === undefined) return undefined
  return listKeys(folder).find((key) => key.role === role)?.address
}

/** Works on all chains at the same time, each to its end, and throws afterwards what failed. */
export async function onEach<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const ends = await Promise.allSettled(items.map(work))
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  if (reasons.length === 1) throw reasons[0]
  if (reasons.length > 1) throw new Error(reasons.map(describeError).join('\n'), { cause: reasons })
  return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
}
