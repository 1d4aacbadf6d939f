import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Received = { headers: IncomingMessage['headers']; body: string; path: string }
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

type Behaviour = (
  received: Received,
) => number | 'hang' | 'drop' | { status: number; headers: Record<string, string> }

/** A local webhook receiver with configurable answers, 204 by default. */
export async function startReceiver() {
  const received: Received[] = []
  let behave: Behaviour = () => 204
  const server = createServer(async (request, response) => {
    const one = { headers: request.headers, path: request.url ?? '', body: await text(request) }
    received.push(one)
    const answer = behave(one)
    if (answer === 'hang') return
    if (answer === 'drop') return void request.socket.destroy()
    if (typeof answer === 'number') response.writeHead(answer).end()
    else response.writeHead(answer.status, answer.headers).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer(next: Behaviour | ReturnType<Behaviour>) {
      behave = typeof next === 'function' ? next : () => next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Verifies a Standard Webhook as a receiver does, written from the specification alone. */
export function isGenuine(
  { headers, body }: Received,
  secret: string,
  nowSeconds = Date.now() / 1_000,
): boolean {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = String(headers['webhook-signature']).split(' ')
  if (Math.abs(nowSeconds - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return signatures.some((signature) => {
    const [version, encoded = ''] = signature.split(',')
    const given = Buffer.from(encoded, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
