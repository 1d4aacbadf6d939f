import { homedir } from 'node:os'
import { join } from 'node:path'
import { MCP_SETTINGS } from '@geoswap/wallet/store/config-file'
import { run } from './run.ts'

/** The only place that reads the environment. `before` are words before those of the command line. */
export async function main(...before: string[]): Promise<void> {
  const { env, stdin, stdout, stderr } = process
  // The reader of stdout may close it early.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  const base = env['XDG_CONFIG_HOME'] || join(homedir(), '.config')
  process.exitCode = await run([...before, ...process.argv.slice(2)], {
    streams: { stdin, stdout, stderr },
    home: env['GEOSWAP_CLI_HOME'] || join(base, 'geoswap'),
    workingFolder: process.cwd(),
    networkHome: env['GEOSWAP_HOME'] || undefined,
    given: { url: env['GEOSWAP_URL'] || undefined, apiKey: env['GEOSWAP_API_KEY'] || undefined },
    passphrase: env['GEOSWAP_PASSPHRASE'] || undefined,
    gasKey: env['GEOSWAP_GAS_KEY'] || undefined,
    mcp: Object.fromEntries(
      [...MCP_SETTINGS, 'token'].map((name) => [name, env[`GEOSWAP_MCP_${toUpperSnake(name)}`] || undefined]),
    ),
    onSignal(listener) {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, listener)
    },
  })
  // An interrupted request may keep its connection open; do not wait for it.
  setTimeout(() => process.exit(), 100).unref()
}

function toUpperSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}
