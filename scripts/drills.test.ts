import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drills } from '../test/drills/registry.ts'
import { documented as commands, EXCUSED, findMissing, namedIn } from '../test/drills/year/documented.ts'
import { ROOT } from './sources.ts'

const FOLDER = 'docs/operations'
const read = (page: string) => readFileSync(join(ROOT, FOLDER, page), 'utf8')
const documented = [...read('drills.md').matchAll(/^\| `([\w-]+)` \| .* \| \[.*\]\(([^)]+)\) \|$/gm)].map(
  ([, name = '', runbook = '']) => ({ name, runbook }),
)

function toAnchor(heading: string): string {
  const title = heading.replace(/^#+ /, '').toLowerCase()
  return title.replace(/[^\w -]/g, '').replaceAll(' ', '-')
}

/** The page, or the part of it that `page.md#anchor` names. */
function partOf(link: string): string | undefined {
  const [page = '', anchor] = link.split('#')
  const parts = read(page).split(/^(?=#{2,4} )/m)
  return anchor ? parts.find((part) => toAnchor(part.split('\n')[0] ?? '') === anchor) : parts.join('')
}

test('drills.md lists every drill, and no other', () => {
  const ours = Object.entries(drills).map(([name, { runbook }]) => ({ name, runbook }))

  expect(documented).toEqual(ours)
})

test.each(Object.entries(drills))('the page that %s is about names it', (name, { runbook }) => {
  expect(partOf(runbook)).toContain(`\`${name}\``)
})

test('every drill that a page names exists', () => {
  const pages = Object.values(drills).map(({ runbook }) => runbook.split('#')[0] ?? '')
  const named = ['drills.md', ...new Set(pages)].flatMap((page) =>
    [...read(page).matchAll(/(?:Drills?: |drill -- )`?([a-z]+(?:-[a-z]+)+)/g)].map(([, name = '']) => name),
  )

  expect(named.length).toBeGreaterThan(4)
  expect(named.filter((name) => !(name in drills))).toEqual([])
})

const PAGE = `
\`\`\`
npm run -s service -- inventory withdraw --chain base \\
  --amount 5        # --once comes later
npm run -s api-key -- create --name alice
openssl genpkey -algorithm ed25519 -out list.key; docker ps
\`\`\`

\`service doctor\`, \`treasury apply --revoke OLD\` and the field \`deploy\`.
`

test('the commands of a page are read with their flags', () => {
  expect([...namedIn(PAGE)]).toEqual([
    ...['inventory withdraw', 'inventory withdraw --chain', 'inventory withdraw --amount'],
    ...['api-key create', 'api-key create --name', 'openssl genpkey', 'docker', 'doctor'],
    ...['treasury apply', 'treasury apply --revoke'],
  ])
})

test('a command that no step ran is missing, unless it is excused', () => {
  const missing = findMissing(['npm run -s service -- doctor'])

  expect(missing).toContain('rebuild (docs/operations/disaster.md)')
  expect(missing.join()).not.toContain('doctor')
  expect(missing.join()).not.toContain('docker')
})

test('each excuse is of a documented command', () => {
  const named = commands()

  expect(Object.keys(EXCUSED).filter((item) => !named.has(item))).toEqual([])
})
