import type { Hex, PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSolanaSigner, type SolanaSigner } from '../chains/solana/settings.ts'
import { describeError, type Env, UsageError } from '../command.ts'
import { rolesOf } from '../config/address-problems.ts'
import { listKeys } from '../config/keystore.ts'
import { readKeys, readSetting } from '../config/secrets.ts'
import type { NetworkConfig } from '../config.ts'

/** Keys of processes are refused: a nonce used here would look like a lost record of that process. */
export function openDeployer(env: Env, network: NetworkConfig): PrivateKeyAccount {
  const problems: string[] = []
  const [key] = readKeys(env, 'GEOSWAP_DEPLOYER_KEY', ['deployer'], problems)
  if (!key || problems.length > 0) throw new UsageError(problems.join('\n'))
  const account = privateKeyToAccount(key.reveal() as Hex)
  refuseRole(network, account.address)
  return account
}

/** The key that pays on Solana. It is refused with another role, too. */
export async function openSolanaDeployer(env: Env, network: NetworkConfig): Promise<SolanaSigner> {
  const problems: string[] = []
  const [key] = readKeys(env, 'GEOSWAP_SOLANA_DEPLOYER_KEY', ['solana-deployer'], problems)
  if (!key || problems.length > 0) throw new UsageError(problems.join('\n'))
  const signer = await createSolanaSigner(Buffer.from(key.reveal().slice(2), 'hex'))
  refuseRole(network, signer.address)
  return signer
}

function refuseRole(network: NetworkConfig, payer: string): void {
  const role = rolesOf(network).find(({ address }) => address.toLowerCase() === payer.toLowerCase())
  if (role) throw new UsageError(`${payer} is already ${role.what}: pay with a separate key.`)
}

/** The address of a deployer in the keystore, without opening its key. */
export function findDeployer(env: Env, role: 'deployer' | 'solana-deployer'): string | undefined {
  const folder = env['GEOSWAP_KEYSTORE']
  const name = role === 'deployer' ? 'GEOSWAP_DEPLOYER_KEY' : 'GEOSWAP_SOLANA_DEPLOYER_KEY'
  const isGiven = readSetting(env, name, []) !== undefined
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
