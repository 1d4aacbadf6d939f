import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.ts'

const FOLDER = 'packages/sdk/src'

const INTRO = `# SDK reference

Generated from \`${FOLDER}\`: everything that \`@geoswap/sdk\` exports.
Its [README](../packages/sdk/README.md) shows how to use it.
`

const SECTIONS = ['function', 'class', 'type'] as const
const TITLES = { function: 'Functions', class: 'Errors', type: 'Types' }

type Kind = (typeof SECTIONS)[number]
type Entry = { name: string; kind: Kind; text: string; about: string }

/** docs/sdk.md: the exports of the index, with the comments and signatures of the sources. */
export function sdkPage(): string {
  const exported = readExports(read('index.ts'))
  const own = exported
    .filter(({ from }) => from.startsWith('./'))
    .flatMap(({ names, from }) => {
      const source = read(from.slice(2))
      return names.map((name) => findEntry(source, name))
    })
  const wire = exported.filter(({ from }) => from === '@geoswap/wire').flatMap(({ names }) => names)
  const sections = SECTIONS.map((kind) => {
    const entries = own.filter((entry) => entry.kind === kind)
    return `## ${TITLES[kind]}\n\n${entries.map(toText).join('\n')}`
  })
  const list = wire.map((name) => `\`${name}\``).join(', ')
  const about = 'The types of the HTTP interface, as [openapi.json](openapi.json) has them'
  const rest = `## Requests and replies\n\n${about}: ${list}.\n`
  return [INTRO, ...sections, rest].join('\n')
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

function findEntry(source: string, name: string): Entry {
  const start = new RegExp(`^export (?:async )?(function|class|type) ${name}\\b`, 'm').exec(source)
  if (!start) throw new Error(`scripts/sdk-page.ts does not find ${name}`)
  const kind = start[1] as Kind
  const about = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(source.slice(0, start.index))?.[1] ?? ''
  const text = declarationOf(source.slice(start.index), kind)
  return { name, kind, text, about: about.replace(/^ ?\* ?/gm, '').trim() }
}

function declarationOf(text: string, kind: Kind): string {
  const [first = '', ...rest] = text.split('\n')
  if (kind === 'class') return `${first}\n${fieldsOf(text).join('\n')}\n}`
  if (kind === 'function') return headsOf([first, ...rest]).join('\n')
  const end = rest.findIndex((line) => line === '' || line.startsWith('export '))
  return [first, ...rest.slice(0, end < 0 ? undefined : end)].join('\n')
}

/** The overloads of an overloaded function, or the first line of any other. */
function headsOf(lines: readonly string[]): string[] {
  const overloads = lines.slice(
    0,
    lines.findIndex((line) => line.endsWith('{')),
  )
  return overloads.length > 0 ? overloads : [lines[0]?.replace(/ \{$/, '') ?? '']
}

/** The public fields of an error, without their initializers. */
function fieldsOf(text: string): string[] {
  const body = text.slice(0, text.indexOf('\n}\n'))
  return body.split('\n').filter((line) => /^ {2}(readonly |\/\*\* |override readonly )/.test(line))
}

function toText({ name, text, about }: Entry): string {
  return `### ${name}\n${about && `\n${about}\n`}\n\`\`\`ts\n${text}\n\`\`\`\n`
}
