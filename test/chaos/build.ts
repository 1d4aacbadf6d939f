import { fileURLToPath } from 'node:url'
import { buildService } from '../../packages/service/scripts/build.ts'
import { type Mutant, without } from './mutants.ts'

// Below node_modules, so that external packages are found from there.
const OUTPUT = fileURLToPath(new URL('../../node_modules/.cache/chaos', import.meta.url))
const FIRST = ['./test/chaos/clock.ts', './test/chaos/arms.ts', './packages/devnet/src/exit-with-parent.mjs']

/** Builds the service with the instrumentation of a run; a mutant has one of its rules disabled. */
export function buildForRun(mutant?: Mutant): Promise<string> {
  const outfile = `${OUTPUT}/${mutant?.id ?? 'service'}.mjs`
  return buildService({ outfile, first: FIRST, plugins: mutant ? [without(mutant)] : [] })
}
