import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Findings } from '../../chains/findings.ts'
import type { Env } from '../../command.ts'
import { attestersOf } from '../../compose/attesters.ts'
import { signingAddresses } from '../../compose/chains.ts'
import { createSigners } from '../../compose/solana.ts'
import { loadConfig, type Role } from '../../config/load.ts'
import { createRemoteCheck } from '../../config/remote-keys.ts'
import type { Config, Secret } from '../../config.ts'
import { environmentOf } from '../all.ts'

const ROLES: readonly Role[] = ['api', 'worker', 'attester']

/** Reads settings and keys as each process of `service all` does. Roles without variables here are left out. */
export async function checkRoles(env: Env): Promise<Findings & { facts: string[] }> {
  const here = ROLES.filter((role) => isHere(role, env))
  const found = await Promise.all(here.map((role) => checkRole(role, env)))
  const facts = here.filter((_, index) => found[index]?.length === 0)
  return {
    problems: found.flat(),
    warnings: here.length > 0 ? [] : ['no variables of a process are set: keys were not checked'],
    facts: facts.length > 0 ? [`settings and keys of ${facts.join(', ')} are complete`] : [],
  }
}

function isHere(role: Role, env: Env): boolean {
  const name = `GEOSWAP_${role.toUpperCase()}_DATABASE_URL`
  return (env[name] ?? env[`${name}_FILE`]) !== undefined
}

async function checkRole(role: Role, env: Env): Promise<string[]> {
  try {
    const config = loadConfig(environmentOf(role, env), role)
    const missing = await findMissingKeys(role, config)
    return missing.length === 0 ? [] : [`${role}: no private key for ${missing.join(', ')}`]
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).split('\n')
    return lines.filter((line) => line.startsWith('- ')).map((line) => `${role}: ${line.slice(2)}`)
  }
}

/** Addresses without a key here or at a remote signer. */
async function findMissingKeys(role: Role, config: Config): Promise<string[]> {
  const { network, relayerKeys, delivererKeys, attesterKeys, floatKey, solanaKeys } = config
  const isRemote = createRemoteCheck(network)
  const without = (addresses: readonly string[], given: readonly string[]) =>
    addresses.filter((address) => !given.includes(address) && !isRemote(address))
  if (role === 'api') return []
  if (role === 'attester') {
    const missing = without(attestersOf(network), addressesOf(attesterKeys))
    return missing.length < attestersOf(network).length ? [] : missing
  }
  const evm = addressesOf([...relayerKeys, ...delivererKeys, ...(floatKey ? [floatKey] : [])])
  const solana = (await createSigners(solanaKeys)).map(({ address }) => String(address))
  return without(signingAddresses(network), [...evm, ...solana])
}

const addressesOf = (keys: readonly Secret[]) => keys.map((key) => privateKeyToAddress(key.reveal() as Hex))
