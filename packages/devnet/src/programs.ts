import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { build, type OutputFile } from 'esbuild'
import { projectRoot } from './node-child.ts'

// From the root of the project, where every program runs.
const SOURCES = 'packages/devnet/src'
const DIST = 'packages/devnet/dist'
const PROGRAMS = {
  balancer: `${SOURCES}/balancer.ts`,
  'evm-chain': `${SOURCES}/evm-chain.ts`,
  faucet: `${SOURCES}/faucet/run.ts`,
  keeper: `${SOURCES}/keeper.ts`,
  'solana-chain': `${SOURCES}/solana-chain.ts`,
}
// Bundled CommonJS packages call require, which ES modules lack.
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

let built: Promise<void> | undefined

/** Bundles the programs of the network, once per process: a bundle starts in a third of the time of its sources. */
export function buildPrograms(): Promise<void> {
  built ??= build({
    absWorkingDir: projectRoot,
    entryPoints: PROGRAMS,
    outdir: DIST,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // They load native modules, which cannot be bundled.
    external: ['hardhat', 'litesvm'],
    banner: { js: REQUIRE },
    logLevel: 'error',
  }).then(async ({ outputFiles }) => {
    const isEntry = ({ path }: OutputFile) => basename(path, '.mjs') in PROGRAMS
    // Entries last: they import the others.
    await Promise.all(outputFiles.filter((file) => !isEntry(file)).map(replaceFile))
    await Promise.all(outputFiles.filter(isEntry).map(replaceFile))
  })
  return built
}

export const programFile = (name: keyof typeof PROGRAMS): string => `${DIST}/${name}.mjs`

/** Replaces a changed file atomically, since another process may be loading it. */
async function replaceFile({ path, text }: OutputFile): Promise<void> {
  const current = await readFile(path, 'utf8').catch(() => undefined)
  if (current === text) return
  const draft = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(draft, text)
  await rename(draft, path)
}
