import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundleWithInputs, ENTRIES } from './bundle.ts'
import { wireTypes } from './wire-types.ts'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const FORMATS = ['esm', 'cjs'] as const

/**
 * Writes the SDK as applications load it: one module for `import`, one for `require`, each with its types. Returns the
 * files that it holds.
 */
export async function buildSdk(folder: string): Promise<string[]> {
  const bundled: string[] = []
  await rm(folder, { recursive: true, force: true })
  const types = await createTypes()
  for (const format of FORMATS) {
    const files = { ...types }
    for (const entry of ENTRIES) {
      const { text, inputs } = await bundleWithInputs({ minify: false, format, entry })
      files[`${entry}.js`] = text
      bundled.push(...inputs)
    }
    for (const [path, text] of Object.entries(files)) await write(join(folder, format, path), text)
  }
  // Without it, Node and TypeScript would read these files as ES modules, like those of the package.
  await write(join(folder, 'cjs/package.json'), '{ "type": "commonjs" }\n')
  return bundled
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** The declarations that the entries lead to, by their paths. */
async function createTypes(): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'geoswap-types-'))
  try {
    await compile(folder)
    const files: Record<string, string> = {}
    const names = new Set<string>()
    for (const entry of ENTRIES) await collect({ folder, files, names }, `${entry}.d.ts`)
    return { ...files, 'wire.d.ts': wireTypes([...names].sort()) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function compile(folder: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  const tsc = join(dirname(compiler), 'bin/tsc')
  const config = join(PACKAGE, 'tsconfig.build.json')
  await promisify(execFile)(process.execPath, [tsc, '-p', config, '--outDir', folder])
}

type Found = { folder: string; files: Record<string, string>; names: Set<string> }

const FROM = /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+['"]([^'"]+)['"]/g
const INLINE = /import\("([^"]+)"\)\.(\w+)/g

/** The named imports of a declaration file, also those that the compiler writes inside of types. */
function importsOf(text: string): { target: string; list: string }[] {
  const named = [...text.matchAll(FROM)].map(([, list = '', target = '']) => ({ target, list }))
  const inline = [...text.matchAll(INLINE)].map(([, target = '', list = '']) => ({ target, list }))
  return [...named, ...inline]
}

async function collect(found: Found, path: string): Promise<void> {
  if (path in found.files) return
  const text = await readFile(join(found.folder, path), 'utf8')
  const toWire = `${path.includes('/') ? '../' : './'}wire.js`
  found.files[path] = text
    .replaceAll(/(['"])@geoswap\/wire\1/g, `'${toWire}'`)
    .replaceAll(/(['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2')
  for (const { target, list } of importsOf(text)) {
    if (target === '@geoswap/wire') for (const name of namesIn(list)) found.names.add(name)
    else if (/^@(geoswap|solana)\//.test(target)) throw new Error(`${path} needs types of ${target}`)
    else if (target.startsWith('.'))
      await collect(found, join(dirname(path), target.replace(/\.ts$/, '.d.ts')))
  }
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.replace(/\btype\s/, '').trim())
    .filter(Boolean)
}
