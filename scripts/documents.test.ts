import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { maxWordsOfDocuments } from './prose-rules.ts'
import { ROOT } from './sources.ts'

const listed = execFileSync('git', ['ls-files', '--', '*.md', 'llms.txt'], { cwd: ROOT, encoding: 'utf8' })
const documents = listed
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(ROOT, path)))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Anchors as GitHub makes them from headings. */
function anchorsOf(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}

function brokenLinksOf(document: string): string[] {
  const links = [...read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? document : join(dirname(document), path)
    if (!existsSync(join(ROOT, target))) return true
    if (anchor === undefined || statSync(join(ROOT, target)).isDirectory()) return false
    return !anchorsOf(read(target)).includes(anchor)
  })
}

test.each(documents)('every link of %s leads to a file and a heading', (document) => {
  expect(brokenLinksOf(document)).toEqual([])
})

test('each decision is named by the code that it explains, and code names no other', () => {
  const code = execFileSync('git', ['grep', '-h', 'docs/decisions.md#', '--', '*.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const named = [...code.matchAll(/docs\/decisions\.md#([\w-]+)/g)].map(([, anchor = '']) => anchor)
  const titles = [...read('docs/decisions.md').matchAll(/^### .+$/gm)].map(([title]) => title)

  expect(titles.length).toBeGreaterThan(30)
  expect([...new Set(named)].sort()).toEqual(titles.flatMap(anchorsOf).sort())
})

test('every file and room that the tour names exists', () => {
  const named = [...read('docs/tour.md').matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)*)`/g)].map(
    ([, path = '']) => path,
  )
  const paths = named.filter((path) => /\/|^(swap|engine|store|stages)$/.test(path))

  expect(paths.length).toBeGreaterThan(40)
  expect(
    paths.filter(
      (path) => !existsSync(join(ROOT, 'packages/service/src', path)) && !existsSync(join(ROOT, path)),
    ),
  ).toEqual([])
})

/** Traces are printed by the protocol model; the skill is a document for models. */
const isForReaders = (path: string) => !/^(skills\/|llms\.txt$|packages\/service\/test\/)/.test(path)
const isWritten = (text: string) => !/^# .*\n\nGenerated from /.test(text)
const countWords = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

test('all written documents together stay short enough to be read', () => {
  const words = documents.filter(isForReaders).map(read).filter(isWritten).map(countWords)

  expect(words.reduce((a, b) => a + b, 0)).toBeLessThan(maxWordsOfDocuments)
})

// Inside a clone npx runs the program of the clone. These are read elsewhere too.
const READ_ELSEWHERE = /^(skills\/|packages\/(sdk|cli|mcp)\/)/
const FETCHES =
  /\bnpm (install|i|add|exec)\b.*(?<![/.\w-])@?geoswap\b|\b(npx|npm exec|pnpm dlx|bunx)\b.*@geoswap\/|"@geoswap\//
const FETCHES_BY_NAME = /^\s*\S*npx (-y )?geoswap\b/m

test('no document shows a command that would fetch a package that is not ours from npm', () => {
  const shown = documents.flatMap((path) => {
    const blocks = [...read(path).matchAll(/```[\s\S]*?```/g)].join('\n')
    const isWrong = FETCHES.test(blocks) || (READ_ELSEWHERE.test(path) && FETCHES_BY_NAME.test(blocks))
    return isWrong ? [path] : []
  })

  expect(documents).toContain('packages/sdk/README.md')
  expect(shown).toEqual([])
})
