import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.ts'

const FOLDER = 'packages/sdk/src'

const INTRO = `# SDK exports

Generated from \`${FOLDER}\`. The [README](../packages/sdk/README.md) shows how to use them; each name links the file
with its signature and comments, which your editor shows too.
`

const SECTIONS = ['function', 'class', 'const', 'type'] as const
const TITLES = { function: 'Functions', class: 'Errors', const: 'Constants', type: 'Types' }

type Kind = (typeof SECTIONS)[number]
type Entry = { name: string; kind: Kind; file: string; about: string }

/** docs/sdk.md: the exports of the index, with the first sentence of their comments. */
export function sdkPage(): string {
  const exported = readExports(read('index.ts'))
  const own = exported
    .filter(({ from }) => from.startsWith('./'))
    .flatMap(({ names, from }) => names.map((name) => findEntry(from.slice(2), name)))
  const wire = exported.filter(({ from }) => from === '@geoswap/wire').flatMap(({ names }) => names)
  const sections = SECTIONS.map((kind) => {
    const entries = own.filter((entry) => entry.kind === kind)
    const text = kind === 'type' ? `${entries.map(toLink).join(', ')}.\n` : toTable(entries)
    return `## ${TITLES[kind]}\n\n${text}`
  })
  const list = wire.map((name) => `\`${name}\``).join(', ')
  const about = 'Types of the HTTP interface, as [openapi.json](openapi.json) has them'
  return [INTRO, ...sections, `## Requests and replies\n\n${about}: ${list}.\n`].join('\n')
}

function read(file: string): string {
  return readFileSync(join(ROOT, FOLDER, file), 'utf8')
}

function readExports(index: string): { names: string[]; from: string }[] {
  const statements = index.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)
  return [...statements].map(([, names = '', from = '']) => ({
    names: names
      .split(',')
      .map((name) => name.replace('type ', '').trim())
      .filter(Boolean),
    from,
  }))
}

function findEntry(file: string, name: string): Entry {
  const source = read(file)
  const start = new RegExp(`^export (?:async )?(function|class|type|const) ${name}\\b`, 'm').exec(source)
  if (!start) throw new Error(`scripts/sdk-page.ts does not find ${name}`)
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(source.slice(0, start.index))?.[1] ?? ''
  const text = comment.replace(/^ ?\* ?/gm, '').trim()
  const [, about = ''] = /^(.*?\.)(?:\s|$)/s.exec(text) ?? []
  return { name, kind: start[1] as Kind, file, about: about.replaceAll('\n', ' ') }
}

const toLink = ({ name, file }: Entry) => `[\`${name}\`](../${FOLDER}/${file})`

function toTable(entries: readonly Entry[]): string {
  const rows = entries.map((entry) => `| ${toLink(entry)} | ${entry.about} |`)
  return ['| name | |', '|---|---|', ...rows, ''].join('\n')
}
