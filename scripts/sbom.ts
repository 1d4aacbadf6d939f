import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.ts'

/** An entry of package-lock.json, by the folder that it is installed in. */
type Locked = {
  version?: string
  integrity?: string
  license?: string
  link?: boolean
  resolved?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
type Lock = { version: string; packages: Readonly<Record<string, Locked>> }

// Deployed or published; the others serve development.
const SHIPPED = ['service', 'web', 'sdk', 'cli', 'mcp', 'agent']

/** The CycloneDX bill of what is shipped: packages with versions and hashes, from the lockfile alone. */
export function toBom(lock: Lock, shipped = SHIPPED) {
  const found = new Set<string>()
  for (const name of shipped) collect(lock, `packages/${name}`, found)
  const components = [...found].sort().map((folder) => toComponent(folder, lock.packages[folder] ?? {}))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name: 'geoswap', version: lock.version } },
    components,
  }
}

function collect(lock: Lock, folder: string, found: Set<string>): void {
  if (found.has(folder)) return
  found.add(folder)
  const { dependencies = {}, optionalDependencies = {} } = lock.packages[folder] ?? {}
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const next = resolve(lock, folder, name)
    if (next !== undefined) collect(lock, next, found)
  }
}

/** The folder that Node finds a package in: the nearest above; undefined for an optional one that is not there. */
function resolve({ packages }: Lock, from: string, name: string): string | undefined {
  const parts = from.split('/')
  for (let length = parts.length; length >= 0; length -= 1) {
    const folder = [...parts.slice(0, length), 'node_modules', name].join('/')
    const entry = packages[folder]
    if (entry) return entry.link ? entry.resolved : folder
  }
  return undefined
}

function toComponent(folder: string, { version = '', integrity, license }: Locked) {
  const name = folder.startsWith('packages/')
    ? folder.replace('packages/', '@geoswap/')
    : folder.replace(/^.*node_modules\//, '')
  const [algorithm, base64] = integrity?.split('-') ?? []
  const alg = algorithm?.replace('sha', 'SHA-')
  return {
    type: 'library',
    name,
    version,
    'bom-ref': folder,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(alg && base64 && { hashes: [{ alg, content: Buffer.from(base64, 'base64').toString('hex') }] }),
    ...(license && { licenses: [{ expression: license }] }),
  }
}

export function readBom(shipped = SHIPPED) {
  return toBom(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')), shipped)
}

const [file] = process.argv.slice(2)
if (file !== undefined && process.argv[1]?.endsWith('sbom.ts'))
  writeFileSync(file, `${JSON.stringify(readBom(), null, 2)}\n`)
