import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// npm packs only files at their place, so the published ones take the place of the repository's for a moment.
const KEPT = '.pack'
const NAMES = ['package.json', 'README.md', 'LICENSE'] as const

export function putFiles(folder: string, files: Readonly<Record<(typeof NAMES)[number], string>>): void {
  mkdirSync(join(folder, KEPT))
  for (const name of NAMES) {
    const path = join(folder, name)
    if (existsSync(path)) renameSync(path, join(folder, KEPT, name))
    writeFileSync(path, files[name])
  }
}

/** Also repairs what an interrupted `npm pack` left. */
export function restoreFiles(folder: string): void {
  const kept = join(folder, KEPT)
  if (!existsSync(kept)) return
  for (const name of NAMES) {
    if (existsSync(join(kept, name))) renameSync(join(kept, name), join(folder, name))
    else rmSync(join(folder, name), { force: true })
  }
  rmSync(kept, { recursive: true })
}
