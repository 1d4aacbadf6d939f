import { endpoints } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { createTestServer } from '../../../test/support/http-server.ts'
import { ServiceError } from '../../errors.ts'

const { body, reply } = endpoints.quote.example

test.each(['', 'a b', 'x'.repeat(65), 'naïve', 'line\n', 'esc\u001b[31m'])(
  'the name %j is refused, which a terminal or a model might misread',
  async (externalId) => {
    const { app, headers } = await createTestServer({ handlers: { quote: () => reply } })

    const answer = await app.inject({
      ...{ method: 'POST', url: '/swap/quote', headers },
      payload: { ...body, externalId },
    })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().details.issues[0].field).toBe('externalId')
  },
)

test('concurrent calls each get their own answer, refusals and failures included', async () => {
  const { app, headers } = await createTestServer({
    handlers: {
      quote(_caller, { amount }) {
        if (amount === '2') throw new ServiceError('NO_ROUTE')
        if (amount === '3') throw 'no error at all'
        if (amount === '4') return Promise.resolve({ ...reply, input: 'later' })
        if (amount === '5') return Promise.reject(new ServiceError('NEEDS_LARGER_SIZE'))
        return { ...reply, input: amount }
      },
    },
  })
  const ask = (amount: string) =>
    app.inject({ method: 'POST', url: '/swap/quote', headers, payload: { ...body, amount } })

  const replies = await Promise.all(['1', '2', '3', '4', '5', '6'].map(ask))

  const answers = replies.map((one) => `${one.statusCode} ${one.json().code ?? one.json().input}`)
  expect(answers).toEqual([
    '200 1',
    '422 NO_ROUTE',
    '500 INTERNAL',
    '200 later',
    '422 NEEDS_LARGER_SIZE',
    '200 6',
  ])
})
