import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// The first one has no windows, and takes a quarter less processor time.
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

type Env = Readonly<Record<string, string | undefined>>

/** The browser of this machine: the one that CHROMIUM names, else one with a usual name. */
export function findChromium(env: Env = process.env): string | undefined {
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

/**
 * Installs a missing browser as root on Debian or Ubuntu, and reports it. Undefined if no browser is
 * available.
 */
export async function ensureChromium(say: (line: string) => void): Promise<string | undefined> {
  const found = findChromium()
  if (found || process.getuid?.() !== 0) return found
  say(
    'browser: installing the package chromium-headless-shell for its tests (set CHROMIUM to use another browser)',
  )
  const install = () => apt('install', '-y', '--no-install-recommends', 'chromium-headless-shell')
  // The package lists of a bare machine are empty, and those of others may be old.
  if (!(await install()) && (await apt('update'))) await install()
  return findChromium()
}

/** False also without apt-get. */
function apt(...args: string[]): Promise<boolean> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const child = spawn('apt-get', args, { stdio: 'ignore', env })
  return new Promise((resolve) => {
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
}

// As root there is no sandbox; the other flags prevent the browser's own network requests.
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  '--disable-background-networking',
  '--disable-component-update',
]
