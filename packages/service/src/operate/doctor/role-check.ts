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
import { environmentOf, type Instance, instancesOf } from '../all.ts'

/** Reads settings and keys as each process of `service all` does. Roles without variables here are left out. */
export async function checkRoles(env: Env): Promise<Findings & { facts: string[] }> {
  const here = instancesOf(env).filter((instance) => isHere(instance, env))
  const found = await Promise.all(here.map((instance) => checkRole(instance, env)))
  const facts = here.filter((_, index) => found[index]?.length === 0).map(nameOf)
  return {
    problems: found.flat(),
    warnings: here.length > 0 ? [] : ['no variables of a process are set: keys were not checked'],
    facts: facts.length > 0 ? [`settings and keys of ${facts.join(', ')} are complete`] : [],
  }
}

const nameOf = ({ role, number = 1 }: Instance) => (number > 1 ? `${role} ${number}` : role)

function isHere(instance: Instance, env: Env): boolean {
  const name = `GEOSWAP_${instance.role.toUpperCase()}_DATABASE_URL`
  const own = environmentOf(instance, env)
  return (own[name] ?? own[`${name}_FILE`]) !== undefined
}

async function checkRole(instance: Instance, env: Env): Promise<string[]> {
  const { role } = instance
  const name = nameOf(instance)
  try {
    const config = loadConfig(environmentOf(instance, env), role)
    const missing = await findMissingKeys(role, config)
    return missing.length === 0 ? [] : [`${name}: no private key for ${missing.join(', ')}`]
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).split('\n')
    return lines.filter((line) => line.startsWith('- ')).map((line) => `${name}: ${line.slice(2)}`)
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
