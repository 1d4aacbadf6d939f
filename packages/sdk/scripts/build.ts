import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from './bundle.ts'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const REPOSITORY = resolve(PACKAGE, '../..')

/**
 * Writes the package as it is published: one module, its types, and a manifest without workspace
 * dependencies.
 */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await Promise.all([
    writeFile(join(folder, 'index.js'), await bundle({ minify: false })),
    writeFile(join(folder, 'package.json'), `${JSON.stringify(await toManifest(), null, 2)}\n`),
    cp(join(PACKAGE, 'README.md'), join(folder, 'README.md')),
    cp(join(REPOSITORY, 'LICENSE'), join(folder, 'LICENSE')),
    writeTypes(join(folder, 'types')),
  ])
}

async function readManifest(path: string) {
  return JSON.parse(await readFile(path, 'utf8'))
}

async function toManifest() {
  const own = await readManifest(join(PACKAGE, 'package.json'))
  const wire = await readManifest(join(REPOSITORY, 'packages/wire/package.json'))
  const { name, version, description, license, type, sideEffects, engines, peerDependencies } = own
  return {
    name,
    version,
    description,
    license,
    type,
    sideEffects,
    engines,
    exports: { '.': { types: './types/sdk/src/index.d.ts', default: './index.js' } },
    // Only their types are used, by the schemas of the replies.
    dependencies: wire.dependencies,
    peerDependencies,
  }
}

/**
 * Writes the types of the SDK and of the workspace packages it bundles, with relative imports between them.
 */
async function writeTypes(folder: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  const tsc = join(dirname(compiler), 'bin/tsc')
  const config = join(PACKAGE, 'tsconfig.build.json')
  await promisify(execFile)(process.execPath, [tsc, '-p', config, '--outDir', folder])
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.d.ts'))
  await Promise.all(files.map((file) => rewriteImports(folder, file)))
}

async function rewriteImports(folder: string, file: string): Promise<void> {
  const path = join(folder, file)
  const toPackage = (name: string) => {
    const target = relative(dirname(file), join(name, 'src/index.js')).replaceAll('\\', '/')
    return target.startsWith('.') ? target : `./${target}`
  }
  const text = (await readFile(path, 'utf8'))
    .replace(/(['"])@geoswap\/(\w+)\1/g, (_, quote, name) => `${quote}${toPackage(name)}${quote}`)
    .replace(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, '$1$2.js$1')
  await writeFile(path, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPackage(join(PACKAGE, 'dist'))
