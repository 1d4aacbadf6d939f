import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** This version. */
export const here = fileURLToPath(new URL('../..', import.meta.url))

export type Checkout = { root: string; commit: string; remove(): Promise<void> }

/** An older version in its own folder, ready to run. */
export async function checkOut(ref: string, root: string): Promise<Checkout> {
  await run('git', ['worktree', 'add', '--detach', root, ref], { cwd: here })
  const remove = async () => void (await run('git', ['worktree', 'remove', '--force', root], { cwd: here }))
  try {
    const { stdout } = await run('git', ['log', '-1', '--format=%h %s'], { cwd: root })
    if (isSame(root, 'package-lock.json', withoutLinks)) linkModules(root)
    else await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: root })
    return { root, commit: stdout.trim(), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

function isSame(root: string, file: string, parse: (text: string) => unknown): boolean {
  const [ours, theirs] = [here, root].map((dir) =>
    JSON.stringify(parse(readFileSync(join(dir, file), 'utf8'))),
  )
  return ours === theirs
}

/** Installed packages only: the workspace's own packages are linked, whatever their version. */
function withoutLinks(text: string): unknown {
  const { packages } = JSON.parse(text) as { packages: Record<string, unknown> }
  return Object.entries(packages).filter(([path]) => /^node_modules\/(?!@geoswap\/)/.test(path))
}

/** The same modules as here, except the workspace's own packages, which are those of the folder. */
function linkModules(root: string): void {
  const [from, to] = [join(here, 'node_modules'), join(root, 'node_modules')]
  mkdirSync(join(to, '@geoswap'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@geoswap') symlinkSync(join(from, name), join(to, name))
  for (const name of readdirSync(join(root, 'packages'))) {
    const dir = join(root, 'packages', name)
    if (existsSync(join(dir, 'package.json'))) symlinkSync(dir, join(to, '@geoswap', name))
  }
}
