import { fileURLToPath } from 'node:url'
import { isTest, readSources, report, type Source } from './sources.ts'

const MAX_FILE_LINES = 400
const MAX_FUNCTION_LINES = 60
// The formatter keeps code within 110; comments, texts and SQL that it cannot wrap may be a little longer.
const MAX_COLUMNS = 120

/** Files, functions and lines that are too long. Test files may have long functions. */
export function checkSizes(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    const count = text.endsWith('\n') ? lines.length - 1 : lines.length
    return [
      ...(count > MAX_FILE_LINES ? [`${path}: ${count} lines, at most ${MAX_FILE_LINES}`] : []),
      ...lines.flatMap((line, index) =>
        line.length > MAX_COLUMNS
          ? [`${path}:${index + 1}: ${line.length} columns, at most ${MAX_COLUMNS}`]
          : [],
      ),
      ...(isTest(path) ? [] : checkFunctions(path, lines)),
    ]
  })
}

/*
 * The formatter puts a closing brace at the indentation of the line that opened the block, which is enough to
 * find the end of a function. Only template literals over several lines may look like code; they do not
 * justify a parser.
 */
const OPENS_FUNCTION =
  /(^\s*(export\s+)?(async\s+)?function\b.*|=>\s*|^\s*(async\s+)?[\w$]+\(.*\)(:\s*[^={]+)?\s*)\{$/
const CONTROL = /^\s*\}?\s*(if|for|while|switch|else|try|catch|finally|do)\b/

function checkFunctions(path: string, lines: string[]): string[] {
  return lines.flatMap((line, start) => {
    if (!OPENS_FUNCTION.test(line) || CONTROL.test(line)) return []
    const length = lengthOfBlock(lines, start)
    return length > MAX_FUNCTION_LINES
      ? [`${path}:${start + 1}: a function of ${length} lines, at most ${MAX_FUNCTION_LINES}`]
      : []
  })
}

function lengthOfBlock(lines: string[], start: number): number {
  const indent = /^\s*/.exec(lines[start] ?? '')?.[0] ?? ''
  const end = lines.findIndex((line, index) => index > start && line.startsWith(`${indent}}`))
  return (end === -1 ? lines.length : end) - start + 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) report('check-sizes', checkSizes(readSources()))
