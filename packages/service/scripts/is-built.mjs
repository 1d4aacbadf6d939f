import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const SOURCES = ['service/src', 'service/scripts', 'wire/src', 'protocol/src', 'solana-escrow/src'].map(at)

export const BUILT = at('service/dist/service.mjs')

/** Whether the built service is as new as its sources. */
export function isBuilt() {
  return existsSync(BUILT) && statSync(BUILT).mtimeMs >= Math.max(...SOURCES.map(changedAt))
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
