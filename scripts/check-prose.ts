import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { emptyOpenings, maxDocumentSentenceWords, maxSentenceWords, metaphors } from './prose-rules.ts'
import { report, type Source } from './sources.ts'

type Prose = { line: number; text: string; maxWords: number }

/** Sentences in comments, test titles and documents that need a second reading. */
export function checkProse(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    proseOf(source).flatMap(({ line, text, maxWords }) =>
      sentencesOf(text).flatMap((sentence) =>
        faultsOf(sentence, maxWords).map((fault) => `${source.path}:${line}: ${fault}: "${sentence}"`),
      ),
    ),
  )
}

function faultsOf(sentence: string, maxWords: number): string[] {
  const words = sentence.split(/\s+/)
  const opening = emptyOpenings.find((each) => sentence === each || sentence.startsWith(`${each} `))
  const metaphor = words
    .map((word) => word.toLowerCase().replace(/[^a-z]/g, ''))
    .find((word) => Object.hasOwn(metaphors, word))
  return [
    ...(opening && !sentence.endsWith('?') ? [`opens with "${opening}"`] : []),
    ...(words.length > maxWords ? [`${words.length} words, at most ${maxWords}`] : []),
    ...(metaphor ? [`"${metaphor}" is "${metaphors[metaphor]}" here`] : []),
  ]
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.?!;:])\s+/).filter((sentence) => sentence !== '')
}

function proseOf({ path, text }: Source): Prose[] {
  if (path.endsWith('.md')) return paragraphsOf(text)
  return [...commentsOf(text), ...(/\.test\.tsx?$/.test(path) ? titlesOf(text) : [])]
}

const COMMENT_LINE = /^\s*(?:\/\*\*?|\*\/|\*|\/\/\/?)\s?(.*?)(?:\*\/)?$/

/** Joins the lines of one comment; a comment after code is separate. */
function commentsOf(text: string): Prose[] {
  const found: Prose[] = []
  let isOpen = false
  for (const [index, line] of text.split('\n').entries()) {
    const words = COMMENT_LINE.exec(line)?.[1]
      ?.replace(/^@(dev|notice|param \w+|return)\s/, '')
      .trim()
    const last = found.at(-1)
    if (words === undefined) isOpen = false
    else if (isOpen && last && words !== '' && !line.includes('@')) last.text += ` ${words}`
    else found.push({ line: index + 1, text: words, maxWords: maxSentenceWords })
    isOpen = words !== undefined && words !== ''
  }
  return found
}

const TITLE = /^\s*(?:test|it|describe)(?:\.\w+)*(?:\(.*?\))?\(\s*(['"`])(.*?)\1/

function titlesOf(text: string): Prose[] {
  return text.split('\n').flatMap((line, index) => {
    const title = TITLE.exec(line)?.[2]
    return title === undefined
      ? []
      : [{ line: index + 1, text: capitalized(title), maxWords: maxSentenceWords }]
  })
}

const capitalized = (title: string) => `${title.charAt(0).toUpperCase()}${title.slice(1)}`

/** Skips code, tables and headings; joins the lines of one paragraph or list item. */
function paragraphsOf(text: string): Prose[] {
  const found: Prose[] = []
  let isOpen = false
  let isCode = false
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode
    const isProse = !isCode && !/^\s*(```|\||#|<|$)/.test(line)
    const words = line
      .replace(/^\s*(>|[-*]|\d+\.)\s+/, '')
      .replace(/\*\*/g, '')
      .trim()
    const last = found.at(-1)
    if (isProse && isOpen && last && words === line.trim()) last.text += ` ${words}`
    else if (isProse) found.push({ line: index + 1, text: words, maxWords: maxDocumentSentenceWords })
    isOpen = isProse
  }
  return found
}

/** All files of the repository that people read, or those below the given paths. */
function readProse(paths: readonly string[]): Source[] {
  const kinds = ['*.ts', '*.tsx', '*.mjs', '*.sol', '*.md']
  const listed = execFileSync('git', ['ls-files', '--', ...kinds], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return listed
    .filter(
      (path) =>
        !path.includes('.gen.') && (paths.length === 0 || paths.some((each) => path.startsWith(each))),
    )
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  report('check-prose', checkProse(readProse(process.argv.slice(2))))
