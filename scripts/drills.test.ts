import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drills } from '../test/drills/registry.ts'
import { ROOT } from './sources.ts'

const manual = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
const [, section = ''] = /^### Drills$(.*?)^### /ms.exec(manual) ?? []
const documented = [...section.matchAll(/^\| `([\w-]+)` \| .* \| \[.*\]\(#([\w-]+)\) \|$/gm)].map(
  ([, name = '', runbook = '']) => ({ name, runbook }),
)
const partOf = (anchor: string) =>
  manual.split(/^(?=#{2,4} )/m).find((part) => toAnchor(part.split('\n')[0] ?? '') === anchor)

function toAnchor(heading: string): string {
  const title = heading.replace(/^#+ /, '').toLowerCase()
  return title.replace(/[^\w -]/g, '').replaceAll(' ', '-')
}

test('the manual lists exactly the existing drills', () => {
  const ours = Object.entries(drills).map(([name, { runbook }]) => ({ name, runbook }))

  expect(documented).toEqual(ours)
})

test.each(Object.entries(drills))("the manual's section about %s names the drill", (name, { runbook }) => {
  expect(partOf(runbook)).toContain(`\`${name}\``)
})

test('every drill that an alarm or a procedure names exists', () => {
  const named = [...manual.matchAll(/(?:Drill: |drill -- )`?([a-z]+(?:-[a-z]+)+)/g)].map(
    ([, name = '']) => name,
  )
  const inAlarms = manual
    .split('\n')
    .filter((line) => /^\| (`Geoswap|none: )/.test(line))
    .flatMap((line) =>
      [...(line.split('|').at(-2) ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    )

  expect(named.length).toBeGreaterThan(6)
  expect([...named, ...inAlarms].filter((name) => !(name in drills))).toEqual([])
})
