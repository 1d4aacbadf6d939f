import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createPostJson } from './post-json.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

test('a reply of several parts arrives whole', async () => {
  const url = await serve((_request, reply) => {
    reply.write('{"a":')
    reply.end('"ü"}')
  })
  expect(await createPostJson(url, 1_000)('{}')).toBe('{"a":"ü"}')
})

test('what is posted is what the node reads, on one connection', async () => {
  const ports = new Set<number | undefined>()
  const url = await serve((request, reply) => {
    ports.add(request.socket.remotePort)
    request.pipe(reply)
  })
  const post = createPostJson(url, 1_000)
  expect([await post('{"n":1}'), await post('{"n":2}')]).toEqual(['{"n":1}', '{"n":2}'])
  expect(ports.size).toBe(1)
})

test('a status other than success is an error that carries it', async () => {
  const url = await serve((_request, reply) => void reply.writeHead(429).end('slow down'))
  await expect(createPostJson(url, 1_000)('{}')).rejects.toMatchObject({ status: 429, text: 'slow down' })
})

test('a node that stays silent is given up after the time allowed', async () => {
  const url = await serve(() => {})
  await expect(createPostJson(url, 20)('{}')).rejects.toThrow('No answer within 20 ms')
})

test('a node that stops in the middle of its answer is given up after the time allowed', async () => {
  const url = await serve((_request, reply) => void reply.write('{"a":'))
  await expect(createPostJson(url, 50)('{}')).rejects.toThrow()
})

test('a node that hangs up in the middle of its answer is an error at once', async () => {
  const url = await serve((_request, reply) => {
    reply.writeHead(200, { 'content-length': '100' })
    reply.write('{', () => reply.destroy())
  })
  await expect(createPostJson(url, 60_000)('{}')).rejects.toThrow()
})

test('a connection that the node closed while it was idle costs nothing but another one', async () => {
  const sockets = new Set<unknown>()
  const url = await serve((request, reply) => {
    if (sockets.has(request.socket)) return void request.socket.resetAndDestroy()
    sockets.add(request.socket)
    reply.end(`"${sockets.size}"`)
  })
  const post = createPostJson(url, 5_000)
  expect([await post('{}'), await post('{}')]).toEqual(['"1"', '"2"'])
})

test('a node that closes every connection is an error', async () => {
  const url = await serve((request) => void request.socket.resetAndDestroy())
  await expect(createPostJson(url, 5_000)('{}')).rejects.toThrow()
})

test('a caller who gives up ends the request', async () => {
  const url = await serve(() => {})
  const giveUp = new AbortController()
  const asked = createPostJson(url, 60_000)('{}', giveUp.signal)
  giveUp.abort()
  await expect(asked).rejects.toThrow()
})

async function serve(answer: RequestListener): Promise<string> {
  const started = createServer(answer)
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`
}
