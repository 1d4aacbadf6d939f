// Runs the service: its built file, which starts in a tenth of the time, or the sources where they are newer.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../packages/${path}`, import.meta.url))
const BUILT = at('service/dist/service.mjs')
const SOURCES = ['service/src', 'wire/src', 'protocol/src'].map(at)

/** When a file of the folder was last changed. */
function changedAt(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Math.max(
    ...files.map(({ parentPath, path, name }) => statSync(`${parentPath ?? path}/${name}`).mtimeMs),
  )
}

const isBuilt = existsSync(BUILT) && statSync(BUILT).mtimeMs >= Math.max(...SOURCES.map(changedAt))
if (!isBuilt) {
  const { register } = await import('tsx/esm/api')
  register()
}
await import(isBuilt ? BUILT : at('service/src/main.ts'))
