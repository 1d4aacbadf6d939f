import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { USAGE } from '../../../packages/service/src/operate/usage.ts'
import { ROOT } from '../../../scripts/sources.ts'

// The commands that the documents for operators name, and that the month has to run.

/** Each cannot run in the drill, for this reason. */
export const EXCUSED: Readonly<Record<string, string>> = {
  docker: 'images come from a registry',
  systemctl: 'units belong to the machine',
  'sh deploy/systemd/install.sh': 'users and units belong to the machine',
  'sh deploy/pin-images.sh': 'images come from a registry',
  'sh deploy/kubernetes/secrets.sh': 'it needs a cluster',
  'sh deploy/kubernetes/upgrade.sh': 'it needs a cluster',
  'npm ci': 'it ran before the drill could',
  'npm run drill': 'this is one',
  'npm run bench': 'it measures for longer than the month lasts, alone on its machine',
  'npm run upgrade-test': 'it needs an older version: the month replaces process after process by the same',
}

/** The subcommands of each command, from the table that `service --help` prints. */
const TABLE = new Map<string, Set<string>>()
for (const [, name = '', sub] of USAGE.matchAll(/^ {2}service ([a-z-]+)(?: ([a-z][a-z-]*))?/gm)) {
  const subs = TABLE.get(name) ?? new Set()
  // The text after a process is its description.
  const isSub = sub !== undefined && !new RegExp(`^ {2}service ${name} {2,}`, 'm').test(USAGE)
  TABLE.set(name, isSub ? subs.add(sub) : subs)
}

/** Every command of the table, with its subcommands. */
const tableItems = (): string[] =>
  [...TABLE].flatMap(([name, subs]) => (subs.size === 0 ? [name] : [...subs].map((sub) => `${name} ${sub}`)))

const FENCE = /^```\w*\n([\s\S]*?)^```/gm
const SCRIPT = /npm run (?:-s )?(?:service|(api-key|webhook)) -- /g
const PROGRAMS = [
  ...[
    'systemctl',
    'docker',
    'psql',
    String.raw`pg_\w+`,
    String.raw`pgbackrest [\w-]+`,
    String.raw`openssl \w+`,
  ],
  ...[String.raw`sh [\w./-]+`, 'npm ci', String.raw`npm run (?!service)(?:-s )?[\w:-]+`],
  ...['npx geoswap (?:wallet|config) [a-z]+', 'npx geoswap [a-z]+'],
]
const PROGRAM = new RegExp(String.raw`^(?:\w+=\S+ )*(?:sudo (?:-u \w+ )?)?(${PROGRAMS.join('|')})`)

/** The names in a text of Markdown: commands with each of their flags, such as `deploy` and `deploy --final`. */
export function namedIn(markdown: string): Set<string> {
  const lines = [...markdown.matchAll(FENCE)].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .replace(/ # .*$/gm, '')
      .split('\n'),
  )
  const spans = [...markdown.replace(FENCE, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
  return new Set([...lines, ...spans].flatMap(itemsOf))
}

/** The items of one command line. */
function itemsOf(line: string): string[] {
  const parts = line
    .replace(/\s+/g, ' ')
    .replace(SCRIPT, 'service $1 ')
    .split(/[;|&(]+/)
  return parts.flatMap((part) => {
    const text = part
      .trim()
      .replace(/--stanza=geoswap /, '')
      .replace(/--type=\w+ /, '')
    const [, program] = PROGRAM.exec(text) ?? []
    return program ? [program.replace('run -s', 'run')] : commandItems(text)
  })
}

function commandItems(text: string): string[] {
  const isService = /^(?:npm run (?:-s )?)?service /.test(text)
  const words = text.replace(/^(?:npm run (?:-s )?)?service +/, '').split(/ +/)
  const [name = '', next = ''] = words
  const subs = TABLE.get(name)
  // Without `service`, a name alone is as often a field or a role.
  if (!subs || (!isService && !subs.has(next) && !next.startsWith('--'))) return []
  const command = subs.has(next) ? `${name} ${next}` : name
  if (subs.size > 0 && command === name && name !== 'books') return []
  const flags = words.flatMap((word) => /^\[?(--[a-z][a-z-]*)/.exec(word)?.[1] ?? [])
  return [command, ...flags.map((flag) => `${command} ${flag}`)]
}

/** By item, the first page that names it. */
export function documented(): Map<string, string> {
  const folders = ['docs/operations', 'docs/operations/runbook']
  const pages = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${folder}/${file}`),
  )
  const found = new Map<string, string>()
  for (const page of ['docs/going-live.md', ...pages])
    for (const item of namedIn(readFileSync(join(ROOT, page), 'utf8')))
      if (!found.has(item)) found.set(item, page)
  for (const item of tableItems()) if (!found.has(item)) found.set(item, 'service --help')
  return found
}

/** The documented commands that neither ran nor are excused. */
export function findMissing(typed: readonly string[]): string[] {
  const ran = new Set(typed.flatMap(itemsOf))
  return [...documented()]
    .filter(([item]) => !ran.has(item) && !Object.hasOwn(EXCUSED, item))
    .map(([item, page]) => `${item} (${page})`)
}
