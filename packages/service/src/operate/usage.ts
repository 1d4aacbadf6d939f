import { ADD_CHAIN_HELP } from './adding/add-chain.ts'
import { ADD_TOKEN_HELP } from './adding/add-token.ts'
import { API_KEY_HELP } from './api-key.ts'
import { AUDIT_HELP } from './audit.ts'
import { BOOKS_HELP } from './books.ts'
import { CHECK_CONFIG_HELP } from './check-config.ts'
import { DEPLOY_HELP } from './deploy.ts'
import { DOCTOR_HELP } from './doctor/doctor.ts'
import { FEES_HELP } from './fees.ts'
import { FUND_HELP } from './fund.ts'
import { INIT_HELP } from './init.ts'
import { INVENTORY_HELP } from './inventory/inventory.ts'
import { KEYS_HELP } from './keys.ts'
import { LAUNCH_HELP } from './launch.ts'
import { QUARANTINE_HELP } from './quarantine.ts'
import { REBUILD_HELP } from './rebuild.ts'
import { SCREENING_HELP } from './screening.ts'
import { SEND_SIGNED_HELP } from './send-signed.ts'
import { SETUP_HELP } from './setup.ts'
import { STOPS_HELP } from './stops.ts'
import { SWAPS_HELP } from './swaps.ts'
import { TREASURY_HELP } from './treasury/treasury.ts'
import { WALLETS_HELP } from './wallets.ts'
import { WEBHOOK_HELP } from './webhook.ts'

// Processes take no arguments: their settings are in the environment.
const PROCESSES = {
  migrate: 'migrate    bring the database to this version',
  api: 'api        serve the HTTP interface',
  worker: 'worker     lock, deliver, claim and refund',
  attester: 'attester   verify outcomes on its own nodes and sign them',
  all: 'all        API, worker and attesters, each in its own process with only its own secrets',
}

const COMMANDS = {
  setup: SETUP_HELP,
  launch: LAUNCH_HELP,
  init: INIT_HELP,
  'check-config': CHECK_CONFIG_HELP,
  'add-token': ADD_TOKEN_HELP,
  'add-chain': ADD_CHAIN_HELP,
  deploy: DEPLOY_HELP,
  treasury: TREASURY_HELP,
  'send-signed': SEND_SIGNED_HELP,
  fund: FUND_HELP,
  doctor: DOCTOR_HELP,
  keys: KEYS_HELP,
  pause: STOPS_HELP,
  resume: STOPS_HELP,
  stops: STOPS_HELP,
  swaps: SWAPS_HELP,
  books: BOOKS_HELP,
  quarantine: QUARANTINE_HELP,
  rebuild: REBUILD_HELP,
  inventory: INVENTORY_HELP,
  fees: FEES_HELP,
  screening: SCREENING_HELP,
  audit: AUDIT_HELP,
  'api-key': API_KEY_HELP,
  wallets: WALLETS_HELP,
  webhook: WEBHOOK_HELP,
}

type ProcessName = keyof typeof PROCESSES
export type CommandName = keyof typeof COMMANDS

const toLines = (helps: Record<string, string>) =>
  [...new Set(Object.values(helps))].map((help) => `  service ${help}`).join('\n')

const SETTINGS = `Settings: GEOSWAP_CONFIG (JSON file of chains and assets), DATABASE_URL, and by role PORT, HOST,
GEOSWAP_SEAL_KEYS (api), GEOSWAP_RELAYER_KEYS and GEOSWAP_DELIVERER_KEYS (worker), GEOSWAP_ATTESTER_KEY (attester);
with a Solana chain also GEOSWAP_SOLANA_KEYS (worker) and GEOSWAP_SOLANA_ATTESTER_KEY (attester).
A secret may also be in a file, with its path in NAME_FILE. Keys may be in a keystore instead: GEOSWAP_KEYSTORE is its
folder, GEOSWAP_KEYSTORE_PASSPHRASE decrypts it, and each process opens only the keys of its own role.

A process refuses a treasury whose code differs between chains, unless it gets --accept-treasury, or
GEOSWAP_ACCEPT_TREASURY=1.`

export const USAGE = `geoswap service

${toLines(PROCESSES)}

${toLines(COMMANDS)}

${SETTINGS}`

/** A parsed command line. */
type Asked =
  | { kind: 'process'; name: ProcessName; acceptsTreasury: boolean }
  | { kind: 'command'; name: CommandName; args: string[] }
  | { kind: 'help'; text: string }
  | { kind: 'version' }
  | { kind: 'refused'; text: string }

/** Lets a process start although the code of the treasury differs between chains. */
const ACCEPT_TREASURY = '--accept-treasury'
const HELP_FLAGS = ['--help', '-h']
const VERSION_FLAGS = ['--version', '-v', 'version']

/** A help flag anywhere shows help and does nothing else. */
export function readCommandLine([first, ...rest]: readonly string[]): Asked {
  if (first !== undefined && VERSION_FLAGS.includes(first)) return { kind: 'version' }
  const isHelp = first === undefined || first === 'help' || HELP_FLAGS.includes(first)
  const [name, ...args] = isHelp ? rest : [first, ...rest]
  const wantsHelp = isHelp || args.some((arg) => HELP_FLAGS.includes(arg))
  if (name === undefined || (isHelp && HELP_FLAGS.includes(name))) return { kind: 'help', text: USAGE }
  if (isOneOf(COMMANDS, name))
    return wantsHelp ? { kind: 'help', text: `service ${COMMANDS[name]}` } : { kind: 'command', name, args }
  if (!isOneOf(PROCESSES, name)) return refused(`Unknown command ${name}.`)
  if (wantsHelp) return { kind: 'help', text: `service ${PROCESSES[name]}\n\n${SETTINGS}` }
  const acceptsTreasury = name !== 'migrate' && args.length === 1 && args[0] === ACCEPT_TREASURY
  if (args.length > 0 && !acceptsTreasury)
    return refused(`service ${name} takes no arguments: ${args.join(' ')} is unknown.`)
  return { kind: 'process', name, acceptsTreasury }
}

const refused = (sentence: string): Asked => ({ kind: 'refused', text: `${sentence} Try service --help.` })

function isOneOf<T extends object>(table: T, name: PropertyKey): name is keyof T {
  return Object.hasOwn(table, name)
}
