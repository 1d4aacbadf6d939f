import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A TypeScript file: its path from the root of the repository, and its text. */
export type Source = { path: string; text: string }

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SKIPPED = new Set(['node_modules', 'artifacts', 'cache', 'dist', 'coverage'])
const FOLDERS = ['packages', 'scripts', 'test']

/** Every hand-written TypeScript file; generated ones are named `*.gen.ts` and left out. */
export function readSources(): Source[] {
  return FOLDERS.flatMap((folder) => listFiles(join(ROOT, folder))).map((file) => ({
    path: relative(ROOT, file).replaceAll('\\', '/'),
    text: readFileSync(file, 'utf8'),
  }))
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return isSkipped(entry.name) ? [] : listFiles(join(folder, entry.name))
    return /(?<!\.gen|\.d)\.tsx?$/.test(entry.name) ? [join(folder, entry.name)] : []
  })
}

function isSkipped(name: string): boolean {
  return SKIPPED.has(name) || name.startsWith('.')
}

export function isTest(path: string): boolean {
  return /\.test\.ts$|^test\/|^packages\/[\w-]+\/test\//.test(path)
}

/** Prints the problems and sets the exit code, or reports in one line that there are none. */
export function report(name: string, problems: readonly string[]): void {
  for (const problem of problems) console.error(problem)
  if (problems.length === 0) return
  console.error(`${name}: ${problems.length} problem${problems.length === 1 ? '' : 's'}`)
  process.exitCode = 1
}
