import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser of this machine: CHROMIUM names one, else the usual names are looked for. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env['CHROMIUM']) return env['CHROMIUM']
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** As root on Debian or Ubuntu a missing browser is installed, which is said; undefined where there is none to have. */
export function ensureChromium(say: (line: string) => void): string | undefined {
  const found = findChromium()
  if (found || process.getuid?.() !== 0) return found
  say('browser: installing the package chromium for its tests (set CHROMIUM to use another browser)')
  const run = (...args: string[]) =>
    spawnSync('apt-get', args, { stdio: 'ignore', env: aptEnvironment() }).status === 0
  const install = () => run('install', '-y', '--no-install-recommends', 'chromium')
  if (!install() && run('update')) install()
  return findChromium()
}

function aptEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
}

// As root there is no sandbox to be had; the rest keeps the browser from calling home.
export const CHROMIUM_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
]
