import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drills } from '../test/drills/registry.ts'
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
