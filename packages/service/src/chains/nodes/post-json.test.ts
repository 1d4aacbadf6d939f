import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
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
  expect(await createPostJson(url, { timeoutMs: 1_000 })('{}')).toBe('{"a":"ü"}')
})

test('the node receives the posted body, on one connection', async () => {
  const ports = new Set<number | undefined>()
  const url = await serve((request, reply) => {
    ports.add(request.socket.remotePort)
    request.pipe(reply)
  })
  const post = createPostJson(url, { timeoutMs: 1_000 })
  expect([await post('{"n":1}'), await post('{"n":2}')]).toEqual(['{"n":1}', '{"n":2}'])
  expect(ports.size).toBe(1)
})

test('a status other than success is an error that contains it', async () => {
  const url = await serve((_request, reply) => void reply.writeHead(503).end('down'))
  await expect(createPostJson(url, { timeoutMs: 1_000 })('{}')).rejects.toMatchObject({
    status: 503,
    text: 'down',
  })
})

test('a silent node fails after the timeout', async () => {
  const url = await serve(() => {})
  await expect(createPostJson(url, { timeoutMs: 20 })('{}')).rejects.toThrow('No answer within 20 ms')
})

test('a node that stops during its answer fails after the timeout', async () => {
  const url = await serve((_request, reply) => void reply.write('{"a":'))
  await expect(createPostJson(url, { timeoutMs: 50 })('{}')).rejects.toThrow()
})

test('a node that closes the connection during its answer fails at once', async () => {
  const url = await serve((_request, reply) => {
    reply.writeHead(200, { 'content-length': '100' })
    reply.write('{', () => reply.destroy())
  })
  await expect(createPostJson(url, { timeoutMs: 60_000 })('{}')).rejects.toThrow()
})

test('a connection closed while idle only costs a new one', async () => {
  const sockets = new Set<unknown>()
  const url = await serve((request, reply) => {
    if (sockets.has(request.socket)) return void request.socket.resetAndDestroy()
    sockets.add(request.socket)
    reply.end(`"${sockets.size}"`)
  })
  const post = createPostJson(url, { timeoutMs: 5_000 })
  expect([await post('{}'), await post('{}')]).toEqual(['"1"', '"2"'])
})

test('a node that closes every connection is an error', async () => {
  const url = await serve((request) => void request.socket.resetAndDestroy())
  await expect(createPostJson(url, { timeoutMs: 5_000 })('{}')).rejects.toThrow()
})

test('aborting ends the request', async () => {
  const url = await serve(() => {})
  const giveUp = new AbortController()
  const asked = createPostJson(url, { timeoutMs: 60_000 })('{}', giveUp.signal)
  giveUp.abort()
  await expect(asked).rejects.toThrow()
})

test('a rate-limited node is left alone for the time it asks for, and then asked again', async () => {
  const askedAt: number[] = []
  let isRefused = false
  const url = await serve((_request, reply) => {
    askedAt.push(performance.now())
    if (askedAt.length === 1)
      reply.writeHead(429, { 'retry-after': '1' }).end(() => {
        isRefused = true
      })
    else reply.end('"served"')
  })
  const post = createPostJson(url, { timeoutMs: 5_000 })

  const first = post('{}')
  await expect.poll(() => isRefused).toBe(true)
  // The client reads the refusal in the next turns of the event loop.
  for (let turn = 0; turn < 3; turn += 1) await setImmediate()
  const others = [post('{}'), post('{}')]

  expect(await Promise.all([first, ...others])).toEqual(['"served"', '"served"', '"served"'])
  expect((askedAt[1] ?? 0) - (askedAt[0] ?? 0)).toBeGreaterThan(990)
  expect(askedAt).toHaveLength(4)
})

test('without a given time, the backoff grows with each refusal', async () => {
  const askedAt: number[] = []
  const url = await serve((_request, reply) => {
    askedAt.push(performance.now())
    if (askedAt.length < 4) reply.end('[{"id":0,"error":{"code":429,"message":"compute units"}}]')
    else reply.end('[]')
  })

  expect(await createPostJson(url, { timeoutMs: 5_000 })('{}')).toBe('[]')
  const pauses = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0))
  expect(pauses.map((pause, index) => pause >= 245 * 2 ** index)).toEqual([true, true, true])
})

test('429 fails at once without time to wait, without another request', async () => {
  let asked = 0
  const url = await serve((_request, reply) => {
    asked += 1
    reply.writeHead(429, { 'retry-after': '60' }).end()
  })
  const post = createPostJson(url, { timeoutMs: 1_000 })

  await expect(post('{}')).rejects.toMatchObject({ status: 429 })
  await expect(Promise.all([post('{}'), post('{}')])).rejects.toMatchObject({ status: 429 })
  expect(asked).toBe(1)
})

test('a request names the process that sends it', async () => {
  const url = await serve((request, reply) => void reply.end(JSON.stringify(request.headers['user-agent'])))

  const agent = await createPostJson(url, { timeoutMs: 1_000, caller: 'worker' })('{}')

  expect(agent).toBe(`"geoswap-worker/${process.pid}"`)
})

async function serve(answer: RequestListener): Promise<string> {
  const started = createServer(answer)
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`
}
