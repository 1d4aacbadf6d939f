import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { families, type KeyRole } from '../chains/families.ts'
import { type Output, parseFlags, UsageError } from '../command.ts'
import type { ScryptCost } from '../config/keystore.ts'
import { groupOf, PARTS } from '../store/grants.ts'
import { operateOf } from './families.ts'
import type { Operate } from './family.ts'
import { writeStarter } from './init.ts'
import { writeKey, writeSeal, writeSecretFile } from './keys.ts'
import { readPreset } from './presets.ts'

export const SETUP_HELP = `setup --chains NAME,NAME --out DIR [--treasury ADDRESS] [--node CHAIN=URL]...
      [--attester-node CHAIN=URL]... [--attesters N] [--threshold N] [--database HOST:PORT]
      Makes everything that a service needs in a new folder: keys in keystore/, passwords and database URLs in
      secrets/, the configuration geoswap.json as init writes it, and geoswap.env with the variables of all commands
      and of service all, and the shell function service. secrets/roles.sql creates database and roles, once, by psql
      as a superuser.
      Each of several --attesters has a keystore and a login of its own, and can move to another machine with them.
      Without --treasury it makes a treasury key: good for test networks, never for money.`

const OWNER = 'geoswap_owner'
// As many as the escrow takes.
const MAX_ATTESTERS = 7

type Part = (typeof PARTS)[number]

/** `cost`: of the encryption of keys. */
export async function setup(args: string[], output: Output, cost?: ScryptCost): Promise<number> {
  const { out, database, attesters, ...asked } = parse(args)
  const folder = resolve(out)
  const at = (...parts: string[]) => join(folder, ...parts)
  if (existsSync(at('geoswap.json')))
    throw new UsageError(`${at('geoswap.json')} exists: choose another folder.`)
  const stores = ['worker', ...attesters, 'operator']
  for (const part of ['secrets', ...stores.map((name) => `keystore/${name}`)])
    mkdirSync(at(part), { recursive: true, mode: 0o700 })
  output.hint('Making keys: a few seconds for each.')
  const used = new Set(asked.chains.map((name) => readPreset(name)?.family))
  // The configuration names the keys of contracts in any case.
  const served = families.filter(({ name, traits }) => traits.hasContracts || used.has(name))
  const operates = served.map(({ name }) => operateOf({ family: name }))
  const made = makeKeys(at, { operates, attesters, makesTreasury: asked.treasury === undefined, cost })
  makeSecrets(at, database, attesters)
  writeSecretFile(at('geoswap.env'), environmentOf(at, attesters))
  const treasury = asked.treasury ?? made.treasury
  const keystores = stores.map((part) => at('keystore', part))
  writeStarter({ ...asked, treasury, keystores, out: at('geoswap.json') }, output)
  for (const { role, address } of made.payers) output.out(`${role} ${address}`)
  output.out(`treasury ${treasury}`)
  output.hint(`Back up ${at('secrets')} and ${at('keystore')} elsewhere.`)
  return 0
}

type At = (...parts: string[]) => string

type Wanted = {
  operates: readonly Operate[]
  attesters: readonly string[]
  makesTreasury: boolean
  cost: ScryptCost | undefined
}

function makeKeys(at: At, { operates, attesters, makesTreasury, cost }: Wanted) {
  const open = (part: string) => {
    const passphrase = randomBytes(24).toString('hex')
    writeSecretFile(at('secrets', `${part}_passphrase`), `${passphrase}\n`)
    return (role: KeyRole) => writeKey(role, at('keystore', part), passphrase, cost)
  }
  const [worker, operator] = [open('worker'), open('operator')]
  for (const [role, count] of operates.flatMap(({ keys }) => keys.worker))
    for (let made = 0; made < count; made += 1) worker(role)
  for (const [index, part] of attesters.entries()) {
    const attester = open(part)
    for (const { keys } of operates) if (index === 0 || !keys.attester.isOne) attester(keys.attester.role)
  }
  const payers = operates.map(({ payer: { role } }) => ({ role, address: operator(role) }))
  for (const role of operates.flatMap(({ keys }) => keys.operator)) operator(role)
  return { payers, treasury: makesTreasury ? operator('treasury') : undefined }
}

/** The database knows an attester by its login, so each has one. */
function makeSecrets(at: At, database: string, attesters: readonly string[]): void {
  writeSeal(at('secrets', 'seal_keys'))
  const of = (name: string, part: Part) => ({ name, login: `geoswap_${name}_login`, group: groupOf(part) })
  const logins = [
    { name: 'owner', login: OWNER, group: undefined },
    ...PARTS.filter((part) => part !== 'attester').map((part) => of(part, part)),
    ...attesters.map((name) => of(name, 'attester')),
  ].map((each) => ({ ...each, password: randomBytes(24).toString('hex') }))
  for (const { name, login, password } of logins) {
    const url = `postgres://${login}:${password}@${database}/geoswap`
    writeSecretFile(at('secrets', `${name}_database_url`), `${url}\n`)
  }
  const groups = PARTS.map((part) => `create role ${groupOf(part)} nologin;`)
  const roles = logins.map(
    ({ login, password, group }) =>
      `create role ${login} login password '${password}'${group ? ` in role ${group}` : ''};`,
  )
  const lines = [...groups, ...roles, `create database geoswap owner ${OWNER};`]
  writeSecretFile(at('secrets', 'roles.sql'), `${lines.join('\n')}\n`)
}

/** Paths only: secrets stay in their files. */
function environmentOf(at: At, attesters: readonly string[]): string {
  const keystore = (name: string, part: string) => [
    `export GEOSWAP_${name}KEYSTORE=${at('keystore', part)}`,
    `export GEOSWAP_${name}KEYSTORE_PASSPHRASE_FILE=${at('secrets', `${part}_passphrase`)}`,
  ]
  const urls = ['owner', 'api', 'worker', ...attesters].map(
    (part) =>
      `export GEOSWAP_${part.toUpperCase()}_DATABASE_URL_FILE=${at('secrets', `${part}_database_url`)}`,
  )
  const lines = [
    '# For the shell of an operator. `service all` gives each process only its own variables.',
    'service() { npm run -s service -- "$@"; }',
    `export GEOSWAP_CONFIG=${at('geoswap.json')}`,
    `export DATABASE_URL_FILE=${at('secrets', 'operator_database_url')}`,
    ...urls,
    `export GEOSWAP_SEAL_KEYS_FILE=${at('secrets', 'seal_keys')}`,
    ...keystore('', 'operator'),
    ...keystore('WORKER_', 'worker'),
    ...attesters.flatMap((part) => keystore(`${part.toUpperCase()}_`, part)),
  ]
  return `${lines.join('\n')}\n`
}

function parse(args: string[]) {
  const text = { type: 'string' } as const
  const list = { type: 'string', multiple: true } as const
  const { values } = parseFlags({
    args,
    options: {
      chains: text,
      out: text,
      treasury: text,
      node: list,
      'attester-node': list,
      attesters: { type: 'string', default: '1' },
      threshold: text,
      database: { type: 'string', default: '127.0.0.1:5432' },
    },
  })
  const { chains, out, treasury, database, threshold, node = [] } = values
  if (!chains || !out) throw new UsageError('Chains or folder missing: setup --chains NAME,NAME --out DIR')
  const names = chains.split(',')
  const unknown = names.find((name) => !readPreset(name))
  if (unknown !== undefined) throw new UsageError(`Unknown preset ${unknown}: see packages/service/presets.`)
  const count = Number(values.attesters)
  if (!(count >= 1 && count <= MAX_ATTESTERS && Number.isInteger(count)))
    throw new UsageError(`--attesters ${values.attesters} is not a number from 1 to ${MAX_ATTESTERS}.`)
  const attesters = Array.from({ length: count }, (_, index) =>
    index === 0 ? 'attester' : `attester_${index + 1}`,
  )
  const attesterNodes = values['attester-node'] ?? []
  return { chains: names, out, treasury, database, threshold, nodes: node, attesterNodes, attesters }
}
