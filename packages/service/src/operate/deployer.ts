import type { Hex, PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Env, UsageError } from '../command.ts'
import { rolesOf } from '../config/address-problems.ts'
import { readKeys } from '../config/secrets.ts'
import type { NetworkConfig } from '../config.ts'

/** Keys of processes are refused: a nonce used here would look like a lost record of that process. */
export function openDeployer(env: Env, network: NetworkConfig): PrivateKeyAccount {
  const problems: string[] = []
  const [key] = readKeys(env, 'GEOSWAP_DEPLOYER_KEY', ['deployer'], problems)
  if (!key || problems.length > 0) throw new UsageError(problems.join('\n'))
  const account = privateKeyToAccount(key.reveal() as Hex)
  const role = rolesOf(network).find(({ address }) => address.toLowerCase() === account.address.toLowerCase())
  if (role) throw new UsageError(`${account.address} is already ${role.what}: pay with a separate key.`)
  return account
}
