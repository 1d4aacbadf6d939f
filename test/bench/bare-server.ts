import type { AddressInfo } from 'node:net'
import { type FastifyReply, fastify } from 'fastify'
import { now } from './clock.ts'
import { answerCalls } from './remote.ts'

// The baseline of this machine: a Fastify server with the service's options and empty routes.

export type BareFunctions = {
  listen(): Promise<number>
  /** Sets the answer of the routes. */
  setReply(json: string): void
  heldCount(): number
  /** Answers this many of the held requests; returns the time of the first answer. */
  release(count: number): number
}

const app = fastify({
  bodyLimit: 64 * 1024,
  requestTimeout: 10_000,
  connectionTimeout: 30_000,
  keepAliveTimeout: 30_000,
  http: { headersTimeout: 8_000, connectionsCheckingInterval: 2_000 },
  exposeHeadRoutes: false,
})
const held: FastifyReply[] = []
let reply: unknown = {}

app.post('/bare', async () => reply)
app.get('/bare/:id', async () => reply)
app.get('/hold/:id', (_request, pending) => void held.push(pending))

async function listen(): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 })
  return (app.server.address() as AddressInfo).port
}

function release(count: number): number {
  const at = now()
  for (const pending of held.splice(0, count)) pending.send(reply)
  return at
}

function setReply(json: string): void {
  reply = JSON.parse(json)
}

answerCalls({ listen, setReply, heldCount: () => held.length, release } satisfies BareFunctions)
