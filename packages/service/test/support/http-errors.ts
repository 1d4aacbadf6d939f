import { ErrorReply } from '@geoswap/wire'
import Schema from 'typebox/schema'
import { expect } from 'vitest'

/** Regular expressions, and words of JSON Schema and of JavaScript. */
const JARGON = [
  /[\^\\{}|]|\[[0-9a-z]|\.\*|\bregex/,
  /must (match|NOT|be (string|integer|number|object|array|equal))\b|integer,|additional propert/,
  /\bpattern\b|\bschema\b|\bundefined\b|NaN/,
]

/** Asserts that people can read what the error says. The names of unknown fields are the caller's own words. */
export function expectPlainWords({ message, details }: { message?: unknown; details?: unknown }): void {
  const { issues = [], ...others } = Object(details) as { issues?: { field: string; message: string }[] }
  const unknown = issues
    .filter((issue) => issue.message.includes('not a known field'))
    .map((issue) => `${issue.field} ${issue.message}`)
    .sort((a, b) => b.length - a.length)
  const ours = unknown.reduce((rest, told) => rest.replace(told, ''), String(message))
  for (const text of [ours, ...issues.map((issue) => issue.message), ...textsIn(others)])
    for (const words of JARGON) expect(text).not.toMatch(words)
}

function textsIn(node: unknown): string[] {
  if (typeof node === 'string') return [node]
  return typeof node === 'object' && node !== null ? Object.values(node).flatMap(textsIn) : []
}

/** Asserts that the reply is this error in the standard form. */
export function expectError(
  reply: { statusCode: number; body: string; headers: object },
  status: number,
  code: string,
) {
  expect(JSON.parse(reply.body)).toMatchObject({ code })
  expect(reply.statusCode).toBe(status)
  expect(Schema.Check(ErrorReply, JSON.parse(reply.body)), reply.body).toBe(true)
  expectPlainWords(JSON.parse(reply.body))
  expect(reply.headers).toMatchObject({
    'x-request-id': JSON.parse(reply.body).requestId,
    'cache-control': 'no-store',
  })
}
