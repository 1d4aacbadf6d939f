// Measures a newcomer's time to the first swap: clones the committed state, then follows the README. Plain
// JavaScript, so that it runs before anything is installed: npm run first-swap
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const GOAL_SECONDS = 180
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'geoswap-first-swap-'))
const clone = join(folder, 'geoswap')
const running = new Set()
const parts = []

/** In its own process group: npm, its shell and their children end together. */
function start(command, { env = {}, onLine = () => {} } = {}) {
  const child = spawn('sh', ['-c', command], {
    ...{ cwd: clone, detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
    env: { ...newcomersEnvironment(), ...env },
  })
  running.add(child)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    for (const line of chunk.split('\n')) onLine(line)
  })
  const ended = new Promise((resolve) => {
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code, text })
    })
  })
  return { child, ended }
}

/** The environment without any configuration of this machine. */
function newcomersEnvironment() {
  const foreign = /^(GEOSWAP_|npm_|INIT_CWD$|NODE_OPTIONS$)/
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
  return { ...Object.fromEntries(kept), GEOSWAP_CLI_HOME: join(folder, 'cli') }
}

async function run(command) {
  const { code, text } = await start(command).ended
  if (code !== 0) throw new Error(`${command} ended with ${code}\n${text}`)
  return text
}

/** Starts the network and waits for the line that reports it ready. */
async function startNetwork(port) {
  let sayReady = () => {}
  const ready = new Promise((resolve) => {
    sayReady = resolve
  })
  const onLine = (line) => line.startsWith('geoswap ready') && sayReady()
  const { ended } = start('npm start', { env: { PORT: `${port}` }, onLine })
  const died = ended.then(({ text }) => Promise.reject(new Error(`npm start ended\n${text}`)))
  died.catch(() => {})
  await Promise.race([ready, died])
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** The first command below the README's heading. */
function firstSwap() {
  const readme = readFileSync(join(clone, 'README.md'), 'utf8')
  const [, command] = /## A first swap\n(?:(?!\n## |\n```)[\s\S])*\n```\n(.*?) *(?:#.*)?\n/.exec(readme) ?? []
  if (!command) throw new Error('The README has no first swap')
  return command
}

async function timed(name, act) {
  const startedAt = performance.now()
  const result = await act()
  const seconds = (performance.now() - startedAt) / 1_000
  parts.push(seconds)
  console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
  return result
}

async function cleanUp() {
  const open = [...running]
  const gone = open.map((child) => new Promise((resolve) => child.once('close', resolve)))
  for (const child of open) process.kill(-child.pid, 'SIGINT')
  await Promise.all(gone)
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  await timed('git clone', () => execFileSync('git', ['clone', '--quiet', root, clone]))
  await timed('npm ci', () => run('npm ci --no-fund --no-audit'))
  const port = await freePort()
  await timed('npm start', () => startNetwork(port))
  const command = firstSwap()
  const text = await timed(command, () => run(command))
  if (!/^status +settled$/m.test(text)) throw new Error(`The swap did not settle\n${text}`)
  const total = parts.reduce((sum, seconds) => sum + seconds, 0)
  console.log(`${total.toFixed(1).padStart(7)} s  in all, at most ${GOAL_SECONDS}`)
  return total <= GOAL_SECONDS
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)))
try {
  if (!(await main())) process.exitCode = 1
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  await cleanUp()
}
