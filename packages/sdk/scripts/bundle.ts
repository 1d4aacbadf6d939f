import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type PluginBuild } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const SOURCES = join(ROOT, 'packages/sdk/src')

/** The exports of the package; the second one takes the classes of errors from the first. */
export const ENTRIES = ['index', 'x402/pay-x402'] as const

const MESSAGES = /var SolanaErrorMessages = \{[\s\S]*?\n\};/

/** The messages of kit are for people and longer than the SDK. Its errors are not passed on. */
function dropMessages({ onLoad }: PluginBuild): void {
  onLoad({ filter: /@solana\/errors\/dist\/.*mjs$/ }, async ({ path }) => {
    const text = await readFile(path, 'utf8')
    if (!MESSAGES.test(text)) throw new Error(`${path} has no messages to leave out`)
    return { contents: text.replace(MESSAGES, 'var SolanaErrorMessages = {};') }
  })
}

/** An error of the client is one of its own classes wherever it is caught. */
function shareErrors({ onResolve }: PluginBuild): void {
  onResolve({ filter: /errors\.ts$/ }, ({ path, resolveDir }) => {
    const isShared = resolve(resolveDir, path) === join(SOURCES, 'errors.ts')
    return isShared ? { path: '../index.js', external: true } : undefined
  })
}

type Wanted = { minify: boolean; format?: 'esm' | 'cjs'; entry?: (typeof ENTRIES)[number] }

/**
 * Bundles the SDK into one module, with the parts of kit that it uses: a peer on kit would bring a package that no
 * Node 20 is allowed to run. viem stays external, the application provides it.
 */
export async function bundle(options: Wanted): Promise<string> {
  return (await bundleWithInputs(options)).text
}

/** `inputs`: the files in the bundle. */
export async function bundleWithInputs({ minify, format = 'esm', entry = 'index' }: Wanted) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(SOURCES, `${entry}.ts`)],
    bundle: true,
    minify,
    write: false,
    format,
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    metafile: true,
    external: ['viem'],
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      { name: 'codes instead of sentences', setup: dropMessages },
      ...(entry === 'index' ? [] : [{ name: 'one class of each error', setup: shareErrors }]),
    ],
  })
  const [file] = outputFiles
  if (!file) throw new Error('The bundler wrote nothing')
  return { text: file.text, inputs: Object.keys(metafile.inputs) }
}

export const MAX_GZIP_BYTES = 26_500

export async function measureBundle(): Promise<{ bytes: number; gzipBytes: number }> {
  const text = await bundle({ minify: true })
  return { bytes: Buffer.byteLength(text), gzipBytes: gzipSync(text, { level: 9 }).length }
}
