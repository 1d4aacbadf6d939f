import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** Receives the spans of API and worker, and returns all posts, one per line. */
export async function startCollector(): Promise<{ url: string; stop(): Promise<void> }> {
  const posts: string[] = []
  const server = createServer(async (request, reply) => {
    if (request.method === 'GET') return void reply.end(posts.join('\n'))
    posts.push(await text(request))
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
