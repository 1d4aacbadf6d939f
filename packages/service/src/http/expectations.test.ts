import { request } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { listen } from './server.ts'
import { createTestServer } from './test-server.ts'

const { app } = await createTestServer()
const url = await listen(app, { port: 0, host: '127.0.0.1' })
afterAll(() => app.close())

test('an Expect header that means nothing is ignored: the refusal is that of any other call', async () => {
  const reply = await new Promise<{ status?: number; body: string }>((resolve) => {
    const call = request(`${url}/swap/chains`, { headers: { expect: 'miracles' } }, (message) => {
      let body = ''
      message.setEncoding('utf8').on('data', (text) => {
        body += text
      })
      message.on('end', () => resolve({ ...(message.statusCode && { status: message.statusCode }), body }))
    })
    call.end()
  })

  expect(reply.status).toBe(401)
  expect(JSON.parse(reply.body)).toMatchObject({
    code: 'MISSING_API_KEY',
    requestId: expect.stringMatching(/^req_/),
  })
})
