import { endpoints } from '@geoswap/wire'
import { afterAll, expect, test } from 'vitest'
import { createTestServer } from '../../../test/support/http-server.ts'

const { submit, submitSolana } = endpoints
const { app, headers } = await createTestServer({
  handlers: { submit: () => submit.example.reply, submitSolana: () => submitSolana.example.reply },
})
const named: unknown[] = []
app.addHook('onResponse', async ({ swapId }) => void named.push(swapId))
afterAll(() => app.close())

test.each([submit, submitSolana])(
  '$path is answered unchanged, in its rate class, and its swap is named in the log',
  async ({ method, path, example }) => {
    named.splice(0)
    const reply = await app.inject({ method, url: path, headers, payload: example.body })

    expect([reply.statusCode, reply.json()]).toEqual([200, example.reply])
    expect(reply.headers['ratelimit']).toMatch(/^"submit";/)
    expect(named).toEqual([example.reply.swapId])
  },
)
