import { fileURLToPath } from 'node:url'
import { readSources, report, type Source } from './sources.ts'

// The formatter keeps code within 110; comments, texts and SQL that it cannot wrap may be a little longer.
const MAX_COLUMNS = 120

/** Lines that are too long. Biome limits the lines of files and functions, and has no rule for columns. */
export function checkColumns(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        line.length > MAX_COLUMNS
          ? [`${path}:${index + 1}: ${line.length} columns, at most ${MAX_COLUMNS}`]
          : [],
      ),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) report('check-columns', checkColumns(readSources()))
