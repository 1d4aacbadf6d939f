import { expect, test } from 'vitest'
import { createFold, type Repeats } from './logger.ts'

/** A fold with timers that run when the test says so. */
function createScene() {
  const waiting: { work: () => void; at: number }[] = []
  const summaries: Repeats[] = []
  let time = 0
  const fold = createFold({
    now: () => time,
    later(work, ms) {
      waiting.push({ work, at: time + ms })
      return { unref: () => {} }
    },
  })
  return {
    summaries,
    log: (message: string, fields: Record<string, unknown> = {}) =>
      fold({ message, fields, summarize: (repeats) => summaries.push(repeats) }),
    pass(ms: number) {
      const end = time + ms
      for (;;) {
        const [next] = waiting.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        waiting.splice(waiting.indexOf(next), 1)
        time = next.at
        next.work()
      }
      time = end
    },
  }
}

test('the first line is written, and its repeats are one summary with their number', () => {
  const { log, pass, summaries } = createScene()
  const err = new Error('connect ECONNREFUSED 127.0.0.1:5432')

  const decisions = ['relay', 'deliver', 'relay'].map((lane) => log('lane step failed', { err, lane }))
  pass(10_000)

  expect(decisions).toEqual(['whole', 'counted', 'counted'])
  expect(summaries).toEqual([{ repeated: 2, since: '1970-01-01T00:00:00.000Z', lanes: ['deliver', 'relay'] }])
})

test('summaries come at longer intervals, and a line after a quiet interval is written again', () => {
  const { log, pass, summaries } = createScene()

  log('refresh failed')
  for (let second = 0; second < 30; second += 1) {
    log('refresh failed')
    pass(1_000)
  }
  expect(summaries.map(({ repeated }) => repeated)).toEqual([10, 20])

  pass(40_000)
  expect(log('refresh failed')).toBe('whole')
})

test('lines about another chain, source, swap or error are not repeats', () => {
  const { log } = createScene()

  expect(log('refresh failed', { source: 'keys', chain: 'base' })).toBe('whole')
  expect(log('refresh failed', { source: 'stops', chain: 'base' })).toBe('whole')
  expect(log('refresh failed', { source: 'keys', chain: 'arbitrum' })).toBe('whole')
  expect(log('refresh failed', { source: 'keys', chain: 'base', err: new Error('other') })).toBe('whole')
})

test('the stack of an error is written once, for whatever fails of it', () => {
  const { log } = createScene()

  expect(log('refresh failed', { source: 'keys', err: new Error('timeout after 31 ms') })).toBe('whole')
  expect(log('refresh failed', { source: 'stops', err: new Error('timeout after 7 ms') })).toBe('brief')
})

test('of one message at most thirty things are told apart, and the others are folded together', () => {
  const { log, pass, summaries } = createScene()
  const decisions = Array.from({ length: 1_000 }, (_, index) => log('request', { swapId: String(index) }))
  pass(10_000)

  expect(decisions.filter((decision) => decision !== 'counted')).toHaveLength(31)
  expect(summaries.map(({ repeated }) => repeated)).toEqual([969])
})
