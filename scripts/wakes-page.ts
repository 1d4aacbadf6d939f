import { CHANNELS, TOPICS } from '../packages/service/src/store/wakes.ts'

const INTRO = `# Wake-ups

Generated from \`packages/service/src/store/wakes.ts\`. Processes tell each other by notifications of PostgreSQL that
work is there. Within a worker, topics wake the tasks of its lanes. Every sleeper also looks by its own timer, so that
a lost wake-up only delays.
`

type Rows = Readonly<
  Record<string, { when: string; by: readonly string[]; wakes: Readonly<Record<string, string>> }>
>

/** docs/wakes.md: who wakes whom. */
export function wakesPage(): string {
  return [INTRO, section('Notifications', 'channel', CHANNELS), section('Topics', 'topic', TOPICS)].join('\n')
}

function section(title: string, first: string, table: Rows): string {
  const rows = Object.entries(table).map(([name, { when, by, wakes }]) => {
    const woken = Object.entries(wakes).map(([file, what]) => `${toLink(file)} ${what}`)
    return `| \`${name}\` | ${when} | ${by.map(toLink).join(', ')} | ${woken.join('; ')} |`
  })
  return [`## ${title}\n`, `| ${first} | when | written by | wakes |`, '|---|---|---|---|', ...rows, ''].join(
    '\n',
  )
}

/** A file, or the function of a trigger. */
const toLink = (name: string) =>
  name.includes('/') ? `[${name}](../packages/service/src/${name})` : `\`${name}\``
