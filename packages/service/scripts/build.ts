import { execFile } from 'node:child_process'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build, type OutputFile, type Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const DIST = fileURLToPath(new URL('../dist/service.mjs', import.meta.url))
const MAIN = './packages/service/src/main.ts'
// Bundled CommonJS packages call require, which ES modules lack.
export const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

const run = promisify(execFile)

type Options = {
  outfile?: string
  /** Loaded before the service; paths from the root of the repository. */
  first?: readonly string[]
  plugins?: readonly Plugin[]
}

// See docs/decisions.md#sources-and-one-file.
/** Writes the service as one file, which starts in a tenth of the time. Returns its path. */
export async function buildService({
  outfile = DIST,
  first = [],
  plugins = [],
}: Options = {}): Promise<string> {
  const contents = [...first, MAIN].map((file) => `import '${file}'`).join('\n')
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    outfile,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: REQUIRE },
    define: { GEOSWAP_COMMIT: JSON.stringify(await findCommit()) },
    logLevel: 'error',
    // Its module for Node requires its parts in a way that bundlers cannot follow.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    plugins: [...plugins, rememberSignatures, inPlace(outfile)],
  })
  const [output] = outputFiles
  if (!output) throw new Error('The bundler wrote nothing')
  await replaceFile(output)
  return outfile
}

/**
 * viem hashes the signatures of our functions and events, which never change, at each call and for each log: that took
 * a twentieth of the worker's time.
 */
const rememberSignatures: Plugin = {
  name: 'remember-signatures',
  setup(build) {
    let isDone = false
    build.onLoad({ filter: /viem\/_esm\/utils\/hash\/hashSignature\.js$/ }, () => {
      isDone = true
      return { contents: HASH_SIGNATURE }
    })
    build.onEnd(() => (isDone ? undefined : { errors: [{ text: 'viem hashes signatures in another file' }] }))
  },
}

const HASH_SIGNATURE = `
  import { toBytes } from '../encoding/toBytes.js'
  import { keccak256 } from './keccak256.js'
  const known = new Map()
  export function hashSignature(signature) {
    const hash = known.get(signature) ?? keccak256(toBytes(signature))
    known.set(signature, hash)
    return hash
  }`

/** Writes a file atomically, since another process may be loading it. */
export async function replaceFile({ path, contents }: OutputFile): Promise<void> {
  const draft = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(draft, contents)
  await rename(draft, path)
}

/** The commit of the source: an image is built without the repository, and gets it in the environment. */
async function findCommit(): Promise<string> {
  const { GEOSWAP_COMMIT: given } = process.env
  if (given) return given
  const asked = run('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: ROOT })
  return asked.then(({ stdout }) => stdout.trim()).catch(() => 'unknown')
}

/** Keeps `import.meta.url` of each source, and of the package with a WASM file, so that files beside it are found. */
function inPlace(outfile: string): Plugin {
  return {
    name: 'in-place',
    setup({ onLoad }) {
      onLoad(
        { filter: /packages\/service\/src\/.*\.ts$|tiny-secp256k1\/lib\/wasm_path\.js$/ },
        async ({ path }) => {
          const source = await readFile(path, 'utf8')
          const place = `new URL(${JSON.stringify(relative(dirname(outfile), path))}, import.meta.url).href`
          return { contents: source.replaceAll('import.meta.url', place), loader: 'ts' }
        },
      )
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`wrote ${relative(process.cwd(), await buildService())}`)
}
