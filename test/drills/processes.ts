import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Network } from '@geoswap/devnet'
import { spawnNode } from '../../packages/devnet/src/node-child.ts'
import { findFreePort } from '../../packages/devnet/src/ports.ts'
import { buildService } from '../../packages/service/scripts/build.ts'
import { operatorEnv } from './npm-run.ts'

export const ROLES = ['api', 'worker', 'attester'] as const
export type Role = (typeof ROLES)[number]
export type Secrets = Record<Role, Record<string, string>>

export type Processes = Awaited<ReturnType<typeof createProcesses>>

const START_MS = 120_000
const STOP_MS = 20_000
const LOOK_MS = 100

/**
 * The service as an operator runs it: one process for each role, with the configuration file and the secrets
 * of its start. Ended processes are not restarted.
 */
export async function createProcesses(network: Network, secrets: Secrets) {
  const { home } = network
  const file = await buildService()
  const shared = operatorEnv(network)
  const ports: Record<Role, number> = {
    ...{ api: await findFreePort(), worker: await findFreePort(), attester: await findFreePort() },
  }
  const urlOf = (role: Role) => `http://127.0.0.1:${ports[role]}`
  const logFileOf = (role: Role) => join(home, 'logs', `${role}.log`)
  const logOf = (role: Role) => readFileSync(logFileOf(role), { encoding: 'utf8', flag: 'a+' })
  const running = new Map<Role, ChildProcess>()

  function launch(role: Role): { child: ChildProcess; said(): string } {
    const from = logOf(role).length
    const port = role === 'api' ? 'PORT' : 'METRICS_PORT'
    const own = { DATABASE_URL: network.databaseUrls[role], ...secrets[role] }
    const env = { ...shared, ...own, [port]: String(ports[role]) }
    const logFile = logFileOf(role)
    const child = spawnNode({ file, args: [role], env, logFile })
    running.set(role, child)
    return { child, said: () => logOf(role).slice(from) }
  }

  async function start(role: Role): Promise<void> {
    const { child, said } = launch(role)
    const end = Date.now() + START_MS
    while (!said().includes(`${role} ready`)) {
      if (isOver(child)) throw new Error(`${role} did not start: ${lastLines(said())}`)
      if (Date.now() > end) throw new Error(`${role} is not ready after ${START_MS / 1_000} s`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  async function stop(role: Role, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = running.get(role)
    running.delete(role)
    if (!child || isOver(child)) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  }

  /** Starts a process that must refuse, and returns its message. */
  async function refusalOf(role: Role): Promise<string> {
    const { child, said } = launch(role)
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MS)
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    clearTimeout(timer)
    running.delete(role)
    if (code !== 1) throw new Error(`${role} was to refuse to start, and ended with ${code}`)
    return lastLines(said())
  }

  return {
    ...{ urlOf, logOf, secrets, start, refusalOf, stop },
    restart: async (...roles: Role[]) => {
      await Promise.all(roles.map((role) => stop(role)))
      await Promise.all(roles.map(start))
    },
    stopAll: async () => void (await Promise.all(ROLES.map((role) => stop(role)))),
    /** The metrics that Prometheus would scrape now, with its own `up` series. */
    async scrape(): Promise<string> {
      const texts = await Promise.all(
        ROLES.map(async (role) => {
          const text = await fetch(`${urlOf(role)}/metrics`).then((reply) => reply.text(), noAnswer)
          return `${text ?? ''}\nup{job="geoswap",instance="${role}"} ${text === undefined ? 0 : 1}`
        }),
      )
      return texts.join('\n')
    },
  }
}

const noAnswer = () => undefined
const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null
const lastLines = (text: string) => text.trim().split('\n').slice(-5).join('\n')
