import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { CHANNELS, TOPICS } from './wakes.ts'

const database = useTestDatabase()
const FOLDER = new URL('../', import.meta.url)
const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'store/wakes.ts')
  .map((file) => ({ file, text: readFileSync(new URL(file, FOLDER), 'utf8') }))
const filesWith = (pattern: RegExp, folder = '') =>
  sources.filter(({ file, text }) => file.startsWith(folder) && pattern.test(text)).map(({ file }) => file)
const isFile = (name: string) => name.includes('/')
/** A word that is also used for other things. */
const asTopic = (name: string) => new RegExp(`topics(?:IfLeft)?: \\[[^\\]]*'${name}'|wake\\w*\\('${name}'\\)`)
const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

/** The notifications of trigger functions: channel, and the beginning of a payload that is a topic. */
let notified: { by: string; channel: string; topic: string | undefined }[]

beforeAll(async () => {
  const { rows } = await database.pool.query<{ name: string; code: string }>(
    `select proname as name, prosrc as code from pg_proc p
      where prosrc like '%pg_notify(%' and exists (select from pg_trigger t where t.tgfoid = p.oid)`,
  )
  notified = rows.flatMap(({ name: by, code }) =>
    [...code.matchAll(/pg_notify\('(\w+)', (?:'(\w+):')?/g)].map(([, channel = '', topic]) => ({
      by,
      channel,
      topic,
    })),
  )
})

test.each(Object.entries(CHANNELS))(
  'the channel %s is written and heard where the table says',
  (name, wake) => {
    const triggers = notified.filter(({ channel }) => channel === name).map(({ by }) => by)

    expect(sorted([...triggers, ...filesWith(new RegExp(`pg_notify\\('${name}'`))])).toEqual(sorted(wake.by))
    const heard = filesWith(new RegExp(`\\b${name}: (\\(|\\w+\\.)`), 'compose/')
    expect(sorted(heard)).toEqual(sorted(Object.keys(wake.wakes)))
  },
)

test.each(Object.entries(TOPICS))(
  'the topic %s is written and waited for where the table says',
  (name, wake) => {
    const [prefix = ''] = name.split(':')
    const triggers = notified.filter(({ topic }) => topic === prefix).map(({ by }) => by)
    const named = filesWith(name === prefix ? asTopic(name) : new RegExp(`\`${prefix}:\\$\\{`))
    const by: readonly string[] = wake.by

    expect(sorted(triggers)).toEqual(sorted(by.filter((each) => !isFile(each))))
    expect(sorted(named)).toEqual(sorted([...by.filter(isFile), ...Object.keys(wake.wakes)]))
  },
)

test('no trigger notifies a channel or a topic that the table lacks', () => {
  const topics = Object.keys(TOPICS).map((name) => name.split(':')[0])

  expect(notified.map(({ channel }) => channel).filter((name) => !(name in CHANNELS))).toEqual([])
  expect(notified.flatMap(({ topic }) => topic ?? []).filter((name) => !topics.includes(name))).toEqual([])
})
