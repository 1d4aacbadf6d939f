import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createPublicFetch, isPrivate } from './public-fetch.ts'

let stop = () => {}
afterEach(() => stop())

async function listen(answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stop = () => void server.close().closeAllConnections()
  return (server.address() as AddressInfo).port
}

test.each([
  ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '10.1.2.3', '100.64.0.1', '169.254.169.254', '172.31.0.1'],
  ...['192.168.1.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fd00::1', 'ff02::1'],
  ...['::ffff:127.0.0.1', '::ffff:a00:1', '64:ff9b::7f00:1', '2002:7f00:1::', 'nonsense'],
])('%s is private', (address) => {
  expect(isPrivate(address)).toBe(true)
})

test.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])(
  '%s is public',
  (address) => {
    expect(isPrivate(address)).toBe(false)
  },
)

test.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:7f00:1]', '2130706433', '0x7f.1'])(
  'nothing is sent to %s, in any writing',
  async (host) => {
    let asked = 0
    const port = await listen((_request, response) => {
      asked += 1
      response.end()
    })

    const answer = createPublicFetch()(`http://${host}:${port}/`)

    await expect(answer).rejects.toMatchObject({ code: 'INSECURE_URL' })
    expect(asked).toBe(0)
  },
)

test('a name is connected to at the address that was checked, with method, headers and body', async () => {
  const checked: string[] = []
  const port = await listen(async (request, response) => {
    const said = (await request.toArray()).join('')
    const { method, headers } = request
    response.writeHead(402, {
      'payment-required': 'e30=',
      'x-said': `${method} ${headers['x-mine']} ${said}`,
    })
    response.end('{"price":1}')
  })
  const ask = createPublicFetch((address) => {
    checked.push(address)
    return false
  })

  const answer = await ask(`http://localhost:${port}/a?b`, {
    method: 'POST',
    body: '{}',
    headers: { 'x-mine': 'y' },
  })

  expect(checked).toContain('127.0.0.1')
  expect([answer.status, answer.headers.get('payment-required'), answer.headers.get('x-said')]).toEqual([
    ...[402, 'e30=', 'POST y {}'],
  ])
  expect(await answer.text()).toBe('{"price":1}')
})

test('a redirect is returned, an empty answer is read, and an aborted request ends', async () => {
  const port = await listen((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/empty' }).end()
    if (request.url === '/empty') response.writeHead(204).end()
  })
  const ask = createPublicFetch(() => false)
  const left = new AbortController()

  const silent = ask(`http://127.0.0.1:${port}/silent`, { signal: left.signal })
  left.abort()
  await expect(silent).rejects.toThrow(/abort/i)
  const moved = await ask(`http://127.0.0.1:${port}/moved`, { redirect: 'manual' })
  const empty = await ask(`http://127.0.0.1:${port}/empty`)

  expect([moved.status, moved.headers.get('location'), empty.status]).toEqual([302, '/empty', 204])
})
