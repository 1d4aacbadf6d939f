import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { ROOT } from './sources.ts'

type Component = { name: string; version?: string; externalReferences?: { type: string; url: string }[] }
type Bom = {
  components: Component[]
  metadata: { component: Component; timestamp?: string }
  serialNumber?: string
}

/** Names of hosts say where a machine installs from, and time and number differ between equal releases. */
export function toReleased(bom: Bom): Bom {
  const { timestamp: _, ...metadata } = bom.metadata
  const { serialNumber: __, ...rest } = bom
  const bare = ({ externalReferences: ___, ...component }: Component) => component
  const components = bom.components.map(bare).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return { ...rest, metadata: { ...metadata, component: bare(metadata.component) }, components }
}

const nameOf = ({ name, version = '' }: Component) => `${name}@${version}`

/** The runtime dependencies of all packages, from the lockfile alone. */
export function readBom(): Bom {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only', '--offline']
  const text = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 })
  return toReleased(JSON.parse(text))
}

const [file] = process.argv.slice(2)
if (file !== undefined && process.argv[1]?.endsWith('sbom.ts'))
  writeFileSync(file, `${JSON.stringify(readBom(), null, 2)}\n`)
