import { type AddressInfo, createServer } from 'node:net'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { serveMetrics } from './metrics.ts'

test('a process without an API answers /health, /ready and /metrics', async () => {
  const port = await findFreePort()
  let isUp = true
  const ready = async () => ({ ok: isUp, checks: { database: isUp } })
  const server = await serveMetrics(new Registry(), { metrics: { port, host: '127.0.0.1' } }, ready)
  const ask = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`)
    return [reply.status, await reply.text()]
  }

  expect(await ask('/health')).toEqual([200, '{"status":"ok"}\n'])
  expect(await ask('/ready')).toEqual([200, '{"status":"ready","checks":{"database":true}}\n'])
  isUp = false
  expect(await ask('/ready')).toEqual([503, '{"status":"not ready","checks":{"database":false}}\n'])
  expect((await ask('/metrics'))[0]).toBe(200)
  expect((await ask('/other'))[0]).toBe(404)
  await server?.close()
})

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
