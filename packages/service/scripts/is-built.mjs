import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const SOURCES = ['service/src', 'service/scripts', 'wire/src', 'protocol/src', 'solana-escrow/src'].map(at)
const LOCKFILE = at('../package-lock.json')

export const BUILT = at('service/dist/service.mjs')

/** Whether no source and no dependency changed since the service was built. */
export function isBuilt() {
  return (
    existsSync(BUILT) &&
    statSync(BUILT).mtimeMs >= Math.max(statSync(LOCKFILE).mtimeMs, ...SOURCES.map(changedAt))
  )
}

/** When a file of the folder was last changed. */
function changedAt(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Math.max(
    ...files.map(({ parentPath, path, name }) => statSync(`${parentPath ?? path}/${name}`).mtimeMs),
  )
}
