import { describe, expect, test } from 'vitest'
import { type Answer, judgeAttempt, RETRY_PAUSES_MS } from '../webhooks/post.ts'

const answered = (status: number, retryAfterMs?: number): Answer => ({
  ...{ kind: 'answered', status },
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})
const judge = (answer: Answer, attempts = 1, random = 0) => judgeAttempt(answer, { attempts, random })

test.each([200, 201, 202, 204, 299])('%i is accepted', (status) => {
  expect(judge(answered(status))).toEqual({ kind: 'delivered' })
})

test.each([100, 300, 301, 302, 307, 400, 401, 404, 429, 500, 502, 503])('%i is retried', (status) => {
  const failure = `it answered ${status}`

  expect(judge(answered(status))).toEqual({ kind: 'retry', pauseMs: 5_000, failure })
})

test('an unreachable endpoint is retried', () => {
  expect(judge({ kind: 'failed', reason: 'gone fishing' })).toMatchObject({
    kind: 'retry',
    failure: 'gone fishing',
  })
})

test('410 disables the endpoint', () => {
  expect(judge(answered(410))).toEqual({ kind: 'gone', failure: 'it answered 410' })
})

describe('the pauses', () => {
  test('grow with each attempt, over three days, until the delivery is given up', () => {
    const verdicts = Array.from({ length: 10 }, (_, index) => judge(answered(500), index + 1))

    const pauses = verdicts.flatMap((verdict) => (verdict.kind === 'retry' ? [verdict.pauseMs] : []))
    expect(pauses).toEqual(RETRY_PAUSES_MS)
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b))
    expect(pauses.reduce((sum, pause) => sum + pause, 0) / 3_600_000).toBeCloseTo(75.6, 1)
    expect(verdicts.at(-1)).toEqual({ kind: 'givenUp', failure: 'it answered 500' })
  })

  test('are up to a fifth longer, so that deliveries that failed together do not retry together', () => {
    expect(judge(answered(500), 2, 0)).toMatchObject({ pauseMs: 300_000 })
    expect(judge(answered(500), 2, 0.5)).toMatchObject({ pauseMs: 330_000 })
    expect(judge(answered(500), 2, 1)).toMatchObject({ pauseMs: 360_000 })
  })

  test('are at least as long as Retry-After, within a day', () => {
    expect(judge(answered(429, 60_000))).toMatchObject({ pauseMs: 60_000 })
    expect(judge(answered(503, 1_000), 2)).toMatchObject({ pauseMs: 300_000 })
    expect(judge(answered(503, 1e12))).toMatchObject({ pauseMs: 86_400_000 })
  })
})
