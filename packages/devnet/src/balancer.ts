import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { NODE_FLAGS, projectRoot, reportListening } from './node-child.ts'

// Several API processes behind one port. The balancer accepts connections and passes each to the next process
// in turn, which then talks to the client directly. The balancer itself reads no data.

const RESTART_DELAY_MS = 300

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    processes: { type: 'string', default: '2' },
    file: { type: 'string', default: '' },
  },
})
const wanted = Number(values.processes)
let stopping = false
let isReported = false

cluster.setupPrimary({
  exec: values.file,
  args: ['api'],
  execArgv: NODE_FLAGS,
  cwd: projectRoot,
})

const listening = new Set<Worker>()
cluster.on('listening', (worker) => {
  listening.add(worker)
  if (isReported || listening.size < wanted) return
  isReported = true
  reportListening(Number(values.port))
})
cluster.on('exit', async (worker) => {
  listening.delete(worker)
  reportPids()
  if (stopping) return endWhenAlone()
  // The supervisor reports a process that cannot start.
  if (!isReported) process.exit(1)
  await delay(RESTART_DELAY_MS)
  if (!stopping) fork()
})
process.on('SIGTERM', () => {
  stopping = true
  for (const worker of workers()) worker.process.kill('SIGTERM')
  endWhenAlone()
})
for (let count = 0; count < wanted; count += 1) fork()

function fork(): void {
  // Messages to a dead process are lost; its exit is handled above.
  cluster.fork().on('error', () => {})
  reportPids()
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

function reportPids(): void {
  process.send?.({ pids: workers().flatMap((worker) => worker.process.pid ?? []) })
}

function endWhenAlone(): void {
  if (workers().length === 0) process.exit(0)
}
