import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PARTS, type Part, TABLES } from '../packages/service/src/store/grants.ts'
import { isTest, ROOT, readSources } from './sources.ts'

const FOLDER = 'packages/service/src/'
const MIGRATIONS = `${FOLDER}store/migrations`

const INTRO = `# Tables

Generated from [grants](../packages/service/src/store/grants.ts) and the SQL of the service. Roles are
[parts of the service](operations/database.md#roles); the owner of the tables, as which \`migrate\` and \`rebuild\` run,
may do everything. Names in code are functions of the database.
`

const HOLDS: Readonly<Record<string, string>> = {
  migrations: 'The applied migrations.',
  accounts: 'The callers, and their limits.',
  api_keys: 'Hashes of the keys of accounts, with their rules.',
  key_spending: 'The value that a key with a daily limit submitted, on its last day.',
  rate_budgets: 'A token bucket for each account and class of call.',
  held_places: 'How many callers of an account each API process may hold.',
  service_epoch: 'A number that rises after every restore, so that no index is issued twice.',
  ring_positions: 'The slots of the escrow, by locker: free without an op.',
  ops: 'The signed terms of a built quote.',
  swaps: 'The submitted swaps: state, proof, facts from the chains.',
  account_swaps: 'The swaps of an account by time and wallet.',
  swap_events: 'Each visible change of a swap, partitioned by month.',
  swap_event_partitions: 'The months of `swap_events`.',
  webhook_endpoints: 'The URLs to which events of an account are posted.',
  webhook_deliveries: 'The posts that are due; a row goes when its endpoint has accepted it.',
  sender_keys: 'The next nonce of each key that sends.',
  tx_attempts: 'Every signed transaction, before it is first sent.',
  attempt_swaps: 'The swaps of each transaction.',
  recover_tries: 'The tokens at addresses of ops that were sent back, each once.',
  wasted_gas: 'The gas of transactions without effect, by swap.',
  wasted_hours: 'The same by wallet, account and chain, and by hour.',
  gas_balances: 'The last known coin balance of each key.',
  gas_days: 'The gas that keys spent, by day.',
  price_days: 'The last price of each asset on each day.',
  sweep_cursors: 'The deadline up to which markers on Solana are swept.',
  gas_topups: 'Transfers of the gas float.',
  attested_outcomes: 'Outcomes of versions before sets of attesters.',
  attestations: 'Proposed outcomes, and the transaction that sent each.',
  attestation_signatures: 'The signatures of attesters under them.',
  signed_outcomes: 'What an attester signed: one outcome for each op, ever.',
  inventory: 'The holdings of the vaults, and the part that is reserved.',
  treasury_moves: 'Deposits and withdrawals by command.',
  exposure: 'Value paid for inputs that can be undone, or are not claimed, by origin.',
  lost_inputs: 'Inputs that were paid for and lost, until they are written off.',
  claim_books: 'What is booked of each claim cap.',
  payout_books: 'Payouts by the hour, of vaults without a cap on their chain.',
  ledger_movements: 'The books: movements between accounts at hard-final blocks.',
  ledger_balances: 'Their sums.',
  ledger_cursors: 'The block up to which a chain is booked.',
  quote_stops: 'What is not quoted, and since when.',
  quarantine: 'Items that failed three times, which are tried once a minute.',
  chain_cursors: 'The block up to which a chain was scanned for events.',
  chain_events: 'The events of our contracts.',
  chain_views: 'Each chain as its follower saw it last.',
  swap_times: 'How long the last swaps of a route took.',
  lanes: 'Who holds each lane, and its fence.',
  screening_denials: 'Addresses that were denied, by whom and where.',
  screening_overrides: 'Decisions of the operator about addresses.',
  wallet_freezes: 'Decisions of the operator about wallets that sign their requests.',
  rebuild_points: 'The slot up to which the log was compared with a chain without nonces.',
  rebuilds: 'The runs of `rebuild`.',
}

type Access = { name: string; reads: ReadonlySet<string>; writes: ReadonlySet<string> }

/** docs/tables.md: what each table holds, and who writes and reads it. */
export function tablesPage(): string {
  const strays = Object.keys(HOLDS).filter((table) => !(table in TABLES))
  if (strays.length > 0) throw new Error(`The grants have no table ${strays.join(', ')}`)
  const files = readSources()
    .filter(({ path }) => path.startsWith(FOLDER) && !isTest(path))
    .map(({ path, text }) => accessOf(path.slice(FOLDER.length), withoutComments(text)))
  const all = [...files, ...readFunctions()]
  const namesOf = (which: 'reads' | 'writes', table: string) =>
    all.filter((each) => each[which].has(table)).map(({ name }) => toLink(name))
  const rows = Object.keys(TABLES).map((table) => {
    const holds = HOLDS[table]
    if (!holds) throw new Error(`scripts/tables-page.ts does not describe the table ${table}`)
    const writers = [...partsThat(/insert|update|delete/, table), ...namesOf('writes', table)]
    const readers = [...partsThat(/select/, table), ...namesOf('reads', table)]
    return `| \`${table}\` | ${holds} | ${writers.join(', ')} | ${readers.join(', ')} |`
  })
  return [INTRO, '| table | holds | written by | read by |', '|---|---|---|---|', ...rows, ''].join('\n')
}

function partsThat(do_: RegExp, table: string): string[] {
  const rights: Partial<Record<Part, string>> = TABLES[table] ?? {}
  return PARTS.filter((part) => do_.test(rights[part] ?? '')).map((part) => `**${part}**`)
}

/** The tables that SQL names after the words that read and write. */
function accessOf(name: string, text: string): Access {
  const tablesAfter = (words: RegExp) =>
    new Set([...text.matchAll(words)].map(([, table = '']) => table).filter((table) => table in TABLES))
  return {
    name,
    reads: tablesAfter(/\b(?:from|join)\s+(\w+)/g),
    writes: tablesAfter(/\b(?:insert\s+into|update|delete\s+from)\s+(\w+)/g),
  }
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

/** The last definition of each function of the database. */
function readFunctions(): Access[] {
  const bodies = new Map<string, string>()
  const names = readdirSync(join(ROOT, MIGRATIONS)).filter((name) => name.endsWith('.sql'))
  for (const name of names.sort()) {
    const text = readFileSync(join(ROOT, MIGRATIONS, name), 'utf8')
    for (const [, called = '', body = ''] of text.matchAll(FUNCTION)) bodies.set(called, body)
  }
  return [...bodies].map(([called, body]) => accessOf(called, body))
}

const FUNCTION = /create (?:or replace )?function (\w+)\([^$]*\$\$([\s\S]*?)\$\$/g

const toLink = (name: string) =>
  name.includes('/') ? `[${name.replace(/^.*\//, '')}](../${FOLDER}${name})` : `\`${name}\``
