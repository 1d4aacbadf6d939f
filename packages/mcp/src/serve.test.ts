import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { stub } from '@geoswap/protocol/test/stub'
import { createInterrupts } from '@geoswap/wallet/context'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { McpContext } from './mcp-context.ts'
import { serve } from './serve.ts'

const TOKEN = 'sixteen letters.'

/** A server of MCP over HTTP, and the URL and token that it logs. */
function start(port: string | undefined, { token, json = false }: { token?: string; json?: boolean } = {}) {
  const interrupts = createInterrupts(() => {})
  const submitting = new Set<Promise<unknown>>()
  const results: unknown[] = []
  const lines: string[] = []
  let tellReady = () => {}
  const ready = new Promise<void>((resolve) => {
    tellReady = resolve
  })
  const log = (line: string) => {
    lines.push(line)
    if (line.startsWith('ready ')) setImmediate(tellReady)
  }
  const terminal = { json, result: (_lines: unknown, value: unknown) => results.push(value) }
  const context = { mcp: { ...(token !== undefined && { token }) }, terminal, interrupts }
  const mcp = stub<McpContext>({ context, submitting, log, isReadOnly: true })
  const events: string[] = []
  const served = serve(mcp, { kind: 'http', port }).then(() => void events.push('served'))
  return { interrupts, submitting, results, lines, ready, served, events }
}

/** A server of MCP over streams, and its answers. */
function startStdio() {
  const interrupts = createInterrupts(() => {})
  const lines: string[] = []
  const mcp = stub<McpContext>({
    ...{ context: { interrupts }, submitting: new Set(), isReadOnly: true },
    log: (line: string) => void lines.push(line),
  })
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  let isServed = false
  const served = serve(mcp, { kind: 'stdio', stdin, stdout }).then(() => {
    isServed = true
  })
  const tell = (text: string) => void stdin.write(`${text}\n`)
  const ask = async (method: string) => {
    tell(JSON.stringify({ jsonrpc: '2.0', id: 1, method }))
    const [answer] = await once(stdout, 'data')
    return JSON.parse(String(answer))
  }
  return { interrupts, lines, stdin, served, tell, ask, isServed: () => isServed }
}

const urlIn = (lines: readonly string[]) => lines[0]?.replace('ready ', '') ?? ''
const statusOf = async (url: string, token: string) =>
  (await fetch(url, { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' } })).status
/** Until the server has closed its connections. */
async function closed(url: string): Promise<void> {
  while (
    await fetch(url).then(
      () => true,
      () => false,
    )
  );
}

test.each<[string, (started: ReturnType<typeof startStdio>) => unknown]>([
  ['ends its input', ({ stdin }) => stdin.end()],
  ['is gone', ({ stdin }) => stdin.destroy()],
  ['interrupts', ({ interrupts }) => interrupts.press()],
])('over streams a client is answered until it %s, and no longer', async (_, leave) => {
  const started = startStdio()

  expect(await started.ask('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  expect(started.isServed()).toBe(false)
  leave(started)
  await started.served

  expect(started.stdin.listenerCount('data')).toBe(0)
})

test('over streams a message that cannot be read is logged, and the next one is answered', async () => {
  const { lines, tell, ask, stdin, served } = startStdio()

  tell('no JSON')
  expect(await ask('ping')).toMatchObject({ result: {} })
  stdin.end()
  await served

  expect(lines).toEqual([expect.stringContaining('JSON')])
})

test.each(['65536', '-1', '1.5', 'http', '123456'])('%s is not a port', async (port) => {
  await expect(start(port).served).rejects.toMatchObject({ code: 'USAGE', message: `${port} is not a port.` })
})

test('the highest port is one', async () => {
  // The token is checked after the port, and before it is opened.
  await expect(start('65535', { token: TOKEN.slice(1) }).served).rejects.toThrow('at least 16 characters')
})

test('a token that is easy to guess is refused', async () => {
  await expect(start('0', { token: TOKEN.slice(1) }).served).rejects.toThrow('at least 16 characters')
})

test('the given token is asked for, and never shown', async () => {
  const { lines, results, ready, interrupts, served } = start('0', { token: TOKEN, json: true })
  await ready

  const url = urlIn(lines)
  const statuses = [await statusOf(url, TOKEN), await statusOf(url, 'another')]
  interrupts.press()
  await served

  expect(statuses).toEqual([400, 401])
  expect(lines).toEqual([`ready ${url}`])
  expect(results).toEqual([{ url }])
})

test('without a token one is made and shown once', async () => {
  const { lines, results, ready, interrupts, served } = start('0', { json: true })
  await ready

  const token = lines[1]?.replace('token ', '') ?? ''
  const status = await statusOf(urlIn(lines), token)
  interrupts.press()
  await served

  expect(token).toMatch(/^[\w-]{32}$/)
  expect(status).toBe(400)
  expect(results).toEqual([{ url: urlIn(lines), token }])
})

test('at a terminal for people nothing is printed but the log', async () => {
  const { results, ready, interrupts, served } = start('0')
  await ready
  interrupts.press()
  await served

  expect(results).toEqual([])
})

test('an interrupted server closes its port, and then waits for the answer to a submission', async () => {
  const { lines, submitting, events, ready, interrupts, served } = start('0')
  let answer = () => {}
  submitting.add(
    new Promise<void>((resolve) => {
      answer = resolve
    }),
  )
  await ready
  interrupts.press()
  await closed(urlIn(lines))
  await new Promise((resolve) => setImmediate(resolve))
  events.push('answered')
  answer()
  await served

  expect(events).toEqual(['answered', 'served'])
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('an answer that does not come is waited for briefly', async () => {
  const { submitting, events, ready, interrupts, served } = start('0')
  submitting.add(new Promise(() => {}))
  await ready
  interrupts.press()
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))

  await vi.advanceTimersByTimeAsync(799)
  expect(events).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  await served
})
