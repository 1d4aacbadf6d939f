import { ErrorReply } from '@geoswap/wire'
import Schema from 'typebox/schema'
import { expect } from 'vitest'

/** Asserts that the reply is this error in the standard form. */
export function expectError(
  reply: { statusCode: number; body: string; headers: object },
  status: number,
  code: string,
) {
  expect(JSON.parse(reply.body)).toMatchObject({ code })
  expect(reply.statusCode).toBe(status)
  expect(Schema.Check(ErrorReply, JSON.parse(reply.body)), reply.body).toBe(true)
  expect(reply.headers).toMatchObject({
    'x-request-id': JSON.parse(reply.body).requestId,
    'cache-control': 'no-store',
  })
}
