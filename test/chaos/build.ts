import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Mutant, without } from './mutants.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
// Inside node_modules, so that what is left out of it is found from there.
const OUTPUT = `${root}node_modules/.cache/chaos`
const ENTRY = `import './test/chaos/clock.ts'
import './test/chaos/arms.ts'
import './packages/devnet/src/exit-with-parent.ts'
import './packages/service/src/main.ts'`
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

/** The service as one file. It starts in a tenth of the time: a run starts it hundreds of times. */
export async function buildService(mutant?: Mutant): Promise<string> {
  const outfile = `${OUTPUT}/${mutant?.id ?? 'service'}.mjs`
  await build({
    ...{ stdin: { contents: ENTRY, resolveDir: root, loader: 'ts' }, outfile, bundle: true },
    ...{ platform: 'node', format: 'esm', target: 'node20', banner: { js: REQUIRE }, logLevel: 'error' },
    external: ['@scalar/*'],
    plugins: mutant ? [without(mutant)] : [],
  })
  return outfile
}
