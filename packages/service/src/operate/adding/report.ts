import type { Output } from '../../command.ts'
import { attesterAddresses } from '../../swap/attester-set.ts'
import { describeEdits, type Edited, writeConfig } from './config-edit.ts'

export type Added = {
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
