import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatUnits } from 'viem'
import { askEach, families, familyOf, type KeyRole, keyRoles } from '../chains/families.ts'
import { type Env, type Output, parseFlags, toTable, UsageError } from '../command.ts'
import { type Chains, connectForCommand } from '../compose/chains.ts'
import { createKeyFile, listKeys, type ScryptCost, saltIn } from '../config/keystore.ts'
import { readSetting } from '../config/secrets.ts'
import type { ChainConfig } from '../config.ts'
import { operateOf } from './families.ts'
import { readChosen } from './served.ts'

const ROLES = families
  .map(({ title, keys }, index) => `${index === 0 ? '' : `on ${title} `}${keys.roles.join(', ')}`)
  .join('; ')

export const KEYS_HELP = `keys generate --role ROLE --out DIR [--count N]
      Creates keys, each in its own file encrypted with GEOSWAP_KEYSTORE_PASSPHRASE, and prints their addresses.
      Roles: ${ROLES};
      seal, which is not a key of a chain, is written unencrypted, for GEOSWAP_SEAL_KEYS_FILE.
  service keys status [--config FILE] [--keystore DIR]
      Lists all addresses of the configuration: role, whether the keystore has the key, and gas by chain.
      Exit code 1: a chain does not answer.`

// Shorter ones can be guessed by anyone who has the file.
const MIN_PASSPHRASE = 12

export async function keys(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command === 'generate') return generate(rest, env, output)
  if (command === 'status') return status(rest, env, output)
  throw new UsageError('Unknown command: use keys generate or keys status. Try --help.')
}

function generate(args: string[], env: Env, output: Output): number {
  const { values } = parseFlags({
    args,
    options: {
      role: { type: 'string' },
      out: { type: 'string' },
      count: { type: 'string', default: '1' },
    },
  })
  const { role, out } = values
  const count = Number(values.count)
  if (!role || !out) throw new UsageError('Role or folder missing: keys generate --role ROLE --out DIR')
  if (!Number.isInteger(count) || count < 1 || count > 100) throw new UsageError('--count must be 1 to 100.')
  const write = writerOf(role, env)
  mkdirSync(out, { recursive: true, mode: 0o700 })
  for (let made = 0; made < count; made += 1) output.out(write(out))
  return 0
}

/**
 * Returns a function that writes one secret of this role to a folder. Finds all problems before anything is written.
 */
function writerOf(role: string, env: Env): (folder: string) => string {
  if (role === 'seal') {
    return (folder) => {
      const id = randomBytes(4).toString('hex')
      return writeSeal(join(folder, `seal-${id}.secret`), id)
    }
  }
  const known = keyRoles.find((name) => name === role)
  if (!known) throw new UsageError(`Unknown role ${role}. Roles: ${keyRoles.join(', ')}, seal.`)
  const passphrase = readPassphrase(env)
  return (folder) => writeKey(known, folder, passphrase)
}

export function writeKey(role: KeyRole, folder: string, passphrase: string, cost?: ScryptCost): string {
  const { file, address } = createKeyFile(role, passphrase, { ...cost, salt: saltIn(folder) })
  writeSecretFile(join(folder, `${role}-${address}.json`), `${JSON.stringify(file, null, 2)}\n`)
  return address
}

// Seal keys move no money: they are stored in plain text, like container secrets.

export function writeSeal(file: string, id = randomBytes(4).toString('hex')): string {
  return writeSecretFile(file, `${id}:${randomBytes(32).toString('hex')}\n`)
}

export function writeSecretFile(file: string, text: string): string {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
    return file
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : error}`)
  }
}

function readPassphrase(env: Env): string {
  const problems: string[] = []
  const passphrase = readSetting(env, 'GEOSWAP_KEYSTORE_PASSPHRASE', problems) ?? ''
  if (passphrase.length < MIN_PASSPHRASE && problems.length === 0) {
    problems.push(`GEOSWAP_KEYSTORE_PASSPHRASE must have at least ${MIN_PASSPHRASE} characters`)
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return passphrase
}

async function status(args: string[], env: Env, output: Output): Promise<number> {
  const { values } = parseFlags({
    args,
    options: { config: { type: 'string' }, keystore: { type: 'string' } },
  })
  const { network } = readChosen(env, values.config)
  const folder = values.keystore ?? env['GEOSWAP_KEYSTORE']
  const held = new Set(
    (folder === undefined ? [] : listKeys(folder)).map(({ address }) => address.toLowerCase()),
  )
  const chains = connectForCommand(network)
  const holders = await Promise.all(
    askEach(network.chains, ({ name }, own) =>
      operateOf({ family: name }).keys.listHolders(network, own),
    ).map(async ({ on, ...holder }) => ({
      ...holder,
      gas: await Promise.all(on.map((chain) => readGas(chains, chain, holder.address))),
    })),
  )
  const rows = holders.map(({ role, address, gas }) => [
    role,
    address,
    held.has(address.toLowerCase()) ? 'yes' : 'no',
    gas.map(describeGas).join(', '),
  ])
  output.out(toTable([['ROLE', 'ADDRESS', 'KEY HERE', 'GAS'], ...rows]))
  return holders.some(({ gas }) => gas.some(({ balance }) => balance === undefined)) ? 1 : 0
}

/** Undefined if the chain does not answer. */
type Gas = { chain: ChainConfig; balance: bigint | undefined }

async function readGas(chains: Chains, chain: ChainConfig, address: string): Promise<Gas> {
  const read = chains.of(chain.chainId).readGasBalance(address)
  return { chain, balance: await read.catch(() => undefined) }
}

function describeGas({ chain, balance }: Gas): string {
  const { name, native } = chain
  if (balance === undefined) return `${name} does not answer`
  return `${name} ${formatUnits(balance, familyOf(chain).nativeToken.decimals)} ${native.symbol}`
}
