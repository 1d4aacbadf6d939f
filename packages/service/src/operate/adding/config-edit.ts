import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { applyEdits, modify } from 'jsonc-parser'
import { type Env, UsageError } from '../../command.ts'
import { describeProblem, parseNetwork } from '../../config/network-file.ts'
import type { NetworkConfig } from '../../config.ts'
import { findNetworkFile, readUnfilled } from '../served.ts'

/** A value at this path. A path that ends in -1 appends to a list. */
export type Insertion = { path: (string | number)[]; value: unknown }

/** A configuration as it is, and as it would be. */
export type Edited = { path: string; network: NetworkConfig; before: string; steps: readonly string[] }

export function openConfig(env: Env, config: string | undefined) {
  const path = config ?? findNetworkFile(env)
  return { path, network: readUnfilled(path), text: readFileSync(path, 'utf8') }
}

/** Throws if the result would be no valid configuration. URLs lack their secrets, as in the file. */
export function editConfig(
  { path, text }: { path: string; text: string },
  insertions: readonly Insertion[],
): Edited {
  const steps: string[] = []
  for (const each of insertions) steps.push(insert(steps.at(-1) ?? text, each))
  const { network, problems } = parseNetwork(steps.at(-1) ?? text)
  if (problems.length === 0) return { path, network, before: text, steps }
  const told = problems.map((problem) => describeProblem(path, problem))
  throw new UsageError(`The file would not be valid, and is unchanged:\n${told.join('\n')}`)
}

/** With the indentation of the text; the rest keeps its bytes. */
function insert(text: string, { path, value }: Insertion): string {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? []
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  const edits = modify(text, path, value, { formattingOptions, isArrayInsertion: path.at(-1) === -1 })
  return applyEdits(text, edits)
}

/** Each insertion as a changed range of lines, with a line before and after it. */
export function describeEdits({ path, before, steps }: Omit<Edited, 'network'>): string {
  const parts = steps.map((after, index) => describeChange(steps[index - 1] ?? before, after))
  return [`--- ${path}`, `+++ ${path}`, ...parts.flat()].join('\n')
}

function describeChange(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  const context = (line: string | undefined) => (line === undefined ? [] : [` ${line}`])
  return [
    `@@ line ${head + 1} @@`,
    ...context(now[head - 1]),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...context(now[now.length - tail]),
  ]
}

/** A reader sees the old file or the new one, also after a crash. */
export function writeConfig({ path, before, steps }: Omit<Edited, 'network'>): void {
  const after = steps.at(-1)
  if (after === undefined || after === before) return
  const file = realpathSync(path)
  if (readFileSync(file, 'utf8') !== before)
    throw new UsageError(`${path} changed meanwhile. Run it again: nothing was written.`)
  const fresh = `${file}.${process.pid}.new`
  try {
    writeFileSync(fresh, after, { flag: 'wx', mode: statSync(file).mode, flush: true })
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw new UsageError(
      `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}
