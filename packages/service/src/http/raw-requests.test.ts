import { connect } from 'node:net'
import { afterAll, test } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'
import { listen } from './server.ts'

const { app, key } = await createTestServer()
const url = new URL(await listen(app, { port: 0, host: '127.0.0.1' }))
afterAll(() => app.close())

/** Sends exactly these bytes and reads the answer. */
function send(bytes: string): Promise<{ statusCode: number; headers: Record<string, string>; body: string }> {
  return new Promise((resolve) => {
    const socket = connect(Number(url.port), url.hostname, () => socket.write(bytes))
    let text = ''
    socket.setEncoding('utf8').on('data', (part) => {
      text += part
    })
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const [status = '', ...lines] = head.split('\r\n')
      const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ', 2)))
      resolve({ statusCode: Number(status.split(' ')[1]), headers, body })
    })
  })
}

const HOST = 'host: x\r\nconnection: close\r\n'
const POST = `POST /swap/quote HTTP/1.1\r\n${HOST}x-api-key: ${key}\r\ncontent-type: application/json\r\n`

test('an unknown Expect header is ignored', async () => {
  const reply = await send(`GET /swap/chains HTTP/1.1\r\n${HOST}expect: miracles\r\n\r\n`)

  expectError(reply, 401, 'MISSING_API_KEY')
})

test.each([
  ['bytes that are not HTTP', '\u0016\u0003\u0001\u0000'],
  ['no host', 'GET /health HTTP/1.1\r\nconnection: close\r\n\r\n'],
  ['two hosts', `GET /health HTTP/1.1\r\nhost: y\r\n${HOST}\r\n`],
  ['the same host twice', `GET /health HTTP/1.1\r\nhost: x\r\n${HOST}\r\n`],
  ['a CONNECT request', `CONNECT elsewhere:443 HTTP/1.1\r\n${HOST}\r\n`],
  ['two lengths', `${POST}content-length: 4\r\ncontent-length: 5\r\n\r\nnull `],
  [
    'a length and chunked encoding',
    `${POST}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['an unknown encoding', `${POST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['a folded header line', `GET /health HTTP/1.1\r\n${HOST}x: a\r\n b\r\n\r\n`],
  ['a space before a colon', `GET /health HTTP/1.1\r\n${HOST}x : a\r\n\r\n`],
  ['a NUL in a header', `GET /health HTTP/1.1\r\n${HOST}x: a\u0000b\r\n\r\n`],
  ['lines without a carriage return', 'GET /health HTTP/1.1\nhost: x\n\n'],
  ['too large headers', `GET /health HTTP/1.1\r\n${HOST}x: ${'a'.repeat(17_000)}\r\n\r\n`],
])('400 INVALID_REQUEST for %s', async (_, bytes) => {
  expectError(await send(bytes), 400, 'INVALID_REQUEST')
})

test.each(['/%73wap/chains', 'http://elsewhere/swap/chains', '/swap/chains?x-api-key=1'])(
  'no spelling of a path bypasses the key: %s',
  async (target) => {
    expectError(await send(`GET ${target} HTTP/1.1\r\n${HOST}\r\n`), 401, 'MISSING_API_KEY')
  },
)

test.each(['/swap%2Fchains', '/docs/../swap/chains', '//swap/chains', '/app/assets/..%2f..%2fpackage.json'])(
  '404 NOT_FOUND at %s',
  async (target) => {
    expectError(await send(`GET ${target} HTTP/1.1\r\n${HOST}\r\n`), 404, 'NOT_FOUND')
  },
)

test.each([
  'chainId=1&chainId=2',
  'chainId[]=1',
  '__proto__=1',
  'constructor=1',
  'toString=1',
  'chainId=%zz',
])('400 INVALID_REQUEST for the query %s', async (query) => {
  const reply = await send(`GET /swap/tokens?${query} HTTP/1.1\r\n${HOST}x-api-key: ${key}\r\n\r\n`)

  expectError(reply, 400, 'INVALID_REQUEST')
})
