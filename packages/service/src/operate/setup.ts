import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Output, parseFlags, UsageError } from '../command.ts'
import type { KeyRole } from '../config/keystore.ts'
import type { ScryptCost } from '../config/secret-storage.ts'
import { groupOf, PARTS } from '../store/grants.ts'
import { init } from './init.ts'
import { writeKey, writeSeal, writeSecretFile } from './keys.ts'
import { readPreset } from './presets.ts'

export const SETUP_HELP = `setup --chains NAME,NAME --out DIR [--treasury ADDRESS] [--node CHAIN=URL]...
      [--attester-node CHAIN=URL]... [--database HOST:PORT]
      Makes everything that a service needs in a new folder: keys in keystore/, passwords and database URLs in
      secrets/, the configuration geoswap.json as init writes it, and geoswap.env with the variables of all commands
      and of service all. secrets/roles.sql creates database and roles, once, by psql as a superuser.
      Without --treasury it makes a treasury key: good for test networks, never for money.`

// Enough to begin with: more keys work in parallel, and each needs gas on every chain.
const WORKER: readonly (readonly [KeyRole, number])[] = [
  ['relayer', 4],
  ['authorization-relayer', 2],
  ['deliverer', 2],
]
const WORKER_SOLANA: readonly KeyRole[] = ['inventory', 'fee-input', 'fee-delivery']
const OWNER = 'geoswap_owner'

/** `cost`: of the encryption of keys. */
export async function setup(args: string[], output: Output, cost?: ScryptCost): Promise<number> {
  const { chains, out, treasury, database, nodes } = parse(args)
  const folder = resolve(out)
  const at = (...parts: string[]) => join(folder, ...parts)
  if (existsSync(at('geoswap.json')))
    throw new UsageError(`${at('geoswap.json')} exists: choose another folder.`)
  for (const part of ['secrets', 'keystore/worker', 'keystore/attester', 'keystore/operator'])
    mkdirSync(at(part), { recursive: true, mode: 0o700 })
  const hasSolana = chains.split(',').some((name) => readPreset(name)?.family === 'solana')
  output.hint('Making keys: a few seconds for each.')
  const made = makeKeys(at, { hasSolana, makesTreasury: treasury === undefined, cost })
  makeSecrets(at, database)
  writeSecretFile(at('geoswap.env'), environmentOf(at))
  const owner = treasury ?? made.treasury ?? ''
  const keystores = ['worker', 'attester', 'operator'].flatMap((part) => ['--keystore', at('keystore', part)])
  const config = ['--chains', chains, '--treasury', owner, '--out', at('geoswap.json')]
  await init([...config, ...keystores, ...nodes], output)
  output.out(`deployer ${made.deployer}`)
  if (made.solanaDeployer) output.out(`solana-deployer ${made.solanaDeployer}`)
  output.out(`treasury ${owner}`)
  output.hint(`Back up ${at('secrets')} and ${at('keystore')} elsewhere.`)
  return 0
}

type At = (...parts: string[]) => string

type Wanted = { hasSolana: boolean; makesTreasury: boolean; cost: ScryptCost | undefined }

function makeKeys(at: At, { hasSolana, makesTreasury, cost }: Wanted) {
  const [worker, attester, operator] = ['worker', 'attester', 'operator'].map((part) => {
    const passphrase = randomBytes(24).toString('hex')
    writeSecretFile(at('secrets', `${part}_passphrase`), `${passphrase}\n`)
    return (role: KeyRole) => writeKey(role, at('keystore', part), passphrase, cost)
  }) as [Make, Make, Make]
  for (const [role, count] of WORKER) for (let made = 0; made < count; made += 1) worker(role)
  if (hasSolana) for (const role of WORKER_SOLANA) worker(role)
  attester('attester')
  if (hasSolana) attester('solana-attester')
  return {
    deployer: operator('deployer'),
    ...(hasSolana && { solanaDeployer: operator('solana-deployer'), program: operator('solana-program') }),
    ...(makesTreasury && { treasury: operator('treasury') }),
  }
}

type Make = (role: KeyRole) => string

function makeSecrets(at: At, database: string): void {
  writeSeal(at('secrets', 'seal_keys'))
  const logins = ['owner', ...PARTS].map((part) => ({
    part,
    login: part === 'owner' ? OWNER : `${groupOf(part as (typeof PARTS)[number])}_login`,
    password: randomBytes(24).toString('hex'),
  }))
  for (const { part, login, password } of logins) {
    const url = `postgres://${login}:${password}@${database}/geoswap`
    writeSecretFile(at('secrets', `${part}_database_url`), `${url}\n`)
  }
  const groups = PARTS.map((part) => `create role ${groupOf(part)} nologin;`)
  const roles = logins.map(({ part, login, password }) => {
    const member = part === 'owner' ? '' : ` in role ${groupOf(part as (typeof PARTS)[number])}`
    return `create role ${login} login password '${password}'${member};`
  })
  const lines = [...groups, ...roles, `create database geoswap owner ${OWNER};`]
  writeSecretFile(at('secrets', 'roles.sql'), `${lines.join('\n')}\n`)
}

/** Paths only: secrets stay in their files. */
function environmentOf(at: At): string {
  const keystore = (name: string, part: string) => [
    `export GEOSWAP_${name}KEYSTORE=${at('keystore', part)}`,
    `export GEOSWAP_${name}KEYSTORE_PASSPHRASE_FILE=${at('secrets', `${part}_passphrase`)}`,
  ]
  const urls = ['owner', 'api', 'worker', 'attester'].map(
    (part) =>
      `export GEOSWAP_${part.toUpperCase()}_DATABASE_URL_FILE=${at('secrets', `${part}_database_url`)}`,
  )
  const lines = [
    '# Variables of the commands and of `service all`, which gives each process only its own.',
    `export GEOSWAP_CONFIG=${at('geoswap.json')}`,
    `export DATABASE_URL_FILE=${at('secrets', 'operator_database_url')}`,
    ...urls,
    `export GEOSWAP_SEAL_KEYS_FILE=${at('secrets', 'seal_keys')}`,
    ...keystore('', 'operator'),
    ...keystore('WORKER_', 'worker'),
    ...keystore('ATTESTER_', 'attester'),
  ]
  return `${lines.join('\n')}\n`
}

function parse(args: string[]) {
  const text = { type: 'string' } as const
  const list = { type: 'string', multiple: true } as const
  const { values } = parseFlags({
    args,
    options: {
      ...{ chains: text, out: text, treasury: text, node: list, 'attester-node': list },
      database: { type: 'string', default: '127.0.0.1:5432' },
    },
  })
  const { chains, out, treasury, database, node = [] } = values
  if (!chains || !out) throw new UsageError('Chains or folder missing: setup --chains NAME,NAME --out DIR')
  const unknown = chains.split(',').find((name) => !readPreset(name))
  if (unknown !== undefined) throw new UsageError(`Unknown preset ${unknown}: see packages/service/presets.`)
  const nodes = [
    ...node.flatMap((each) => ['--node', each]),
    ...(values['attester-node'] ?? []).flatMap((each) => ['--attester-node', each]),
  ]
  return { chains, out, treasury, database, nodes }
}
