import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from '../sources.ts'

// Bundled CommonJS packages call require, which ES modules lack. Packing needs no file of the service.
const REQUIRE = `import { createRequire } from 'node:module';const require = createRequire(import.meta.url);`

/** Bundles programs with everything that they import, into files that plain Node runs. */
export async function buildProgram(entries: string | readonly string[], folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entries].flat(),
    outdir: folder,
    bundle: true,
    // Commands are loaded when called, so each has a chunk.
    splitting: true,
    chunkNames: '[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    banner: { js: REQUIRE },
    metafile: true,
  })
  await writeFile(join(folder, 'licenses.txt'), await licensesOf(Object.keys(metafile.inputs)))
}

const VENDOR = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/** The licences of bundled packages, which their terms ask to be kept. */
export async function licensesOf(inputs: readonly string[]): Promise<string> {
  const vendors = new Set(
    inputs.map((input) => VENDOR.exec(input)?.[0]).filter((found) => found !== undefined),
  )
  const texts = await Promise.all([...vendors].sort().map(licenseOf))
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

async function licenseOf(vendor: string): Promise<string> {
  const folder = join(ROOT, vendor)
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const file = existsSync(folder) && (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each))
  return `${name} ${version}, ${license}\n\n${file ? await readFile(join(folder, file), 'utf8') : ''}`
}
