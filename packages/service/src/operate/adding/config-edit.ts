import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type Env, type Output, UsageError } from '../../command.ts'
import { type Insertion, insertJson } from '../../config/json-text.ts'
import { describeProblem, parseNetwork } from '../../config/network-file.ts'
import type { NetworkConfig } from '../../config.ts'
import { attesterAddresses } from '../../swap/attester-set.ts'
import { findNetworkFile, readUnfilled } from '../served.ts'

/** A configuration as it is, and as it would be. */
type Edited = { path: string; network: NetworkConfig; before: string; steps: readonly string[] }

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
  for (const each of insertions) steps.push(insertJson(steps.at(-1) ?? text, each))
  const { network, problems } = parseNetwork(steps.at(-1) ?? text)
  if (problems.length === 0) return { path, network, before: text, steps }
  const told = problems.map((problem) => describeProblem(path, problem))
  throw new UsageError(`The file would not be valid, and is unchanged:\n${told.join('\n')}`)
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

/** A reader sees the old file or the new one, also after a crash. Owner, group and mode stay. */
export function writeConfig({ path, before, steps }: Omit<Edited, 'network'>): void {
  const after = steps.at(-1)
  if (after === undefined || after === before) return
  const file = realpathSync(path)
  if (readFileSync(file, 'utf8') !== before)
    throw new UsageError(`${path} changed meanwhile. Run it again: nothing was written.`)
  const fresh = `${file}.${process.pid}.new`
  try {
    writeLike(file, fresh, after)
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw new UsageError(
      `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

/** The umask does not change a mode that is set later. A change of owner can, so the mode comes last. */
function writeLike(file: string, fresh: string, text: string): void {
  const { uid, gid, mode } = statSync(file)
  const fd = openSync(fresh, 'wx', 0o600)
  try {
    try {
      fchownSync(fd, uid, gid)
    } catch (error) {
      throw new Error(`it belongs to ${uid}:${gid}. Run this as both, or as root: it is unchanged.`, {
        cause: error,
      })
    }
    fchmodSync(fd, mode)
    writeFileSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

type Added = {
  edited: Edited
  /** Facts of the token or chain. */
  facts: readonly string[]
  /** Steps before the processes are started again. */
  before: readonly string[]
}

/** Writes the file, or prints its change, and says what to do next. */
export function finish(
  { edited, facts, before }: Added,
  { isDry, json }: { isDry: boolean; json: boolean },
  output: Output,
): number {
  const isChanged = edited.steps.length > 0
  const next = [...before, ...restartsOf(edited)]
  if (!isDry) writeConfig(edited)
  if (json) {
    const diff = isChanged ? describeEdits(edited) : ''
    output.out(
      JSON.stringify({ file: edited.path, changed: isChanged, dryRun: isDry, diff, facts, next }, null, 2),
    )
    return 0
  }
  for (const fact of facts) output.out(fact)
  if (!isChanged) output.out(`${edited.path} has it already: nothing changed.`)
  else output.out(isDry ? describeEdits(edited) : `Wrote ${edited.path}.`)
  output.out(['Next:', ...next.map((step, index) => `${index + 1}. ${step}`)].join('\n'))
  return 0
}

/** The API comes last: it quotes what the others then know. */
function restartsOf({ path, network }: Edited): string[] {
  const { apiProcesses, workerProcesses } = network.connections
  const attesters = attesterAddresses(network).length
  const count = (number: number, one: string, several: string) => `${number} ${number === 1 ? one : several}`
  return [
    `Copy ${path} to every machine, and give its processes new settings that its URLs name.`,
    'Start these again, one after the other, each after the one before is ready: ' +
      `${count(attesters, 'attester', 'attesters')}, then ${count(workerProcesses, 'worker', 'workers')}, ` +
      `then ${count(apiProcesses, 'API process', 'API processes')}.`,
    'service doctor',
  ]
}
