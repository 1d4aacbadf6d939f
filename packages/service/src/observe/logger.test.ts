import { expect, test } from 'vitest'
import { createLogger } from './logger.ts'

function createProbe() {
  const lines: string[] = []
  const logger = createLogger({ level: 'trace', stream: { write: (line: string) => void lines.push(line) } })
  return { logger, lines }
}

const apiKey = `gsk_live_abcdefghijkl_${'S'.repeat(43)}_000000`

test('a line is JSON with a level, a time and the given fields', () => {
  const { logger, lines } = createProbe()
  logger.info({ requestId: 'req_1', status: 200 }, 'request')

  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/Z$/),
    requestId: 'req_1',
    status: 200,
    msg: 'request',
  })
})

test('secret fields are never written, at any depth', () => {
  const { logger, lines } = createProbe()
  const secrets = {
    signature: 'SECRET',
    geoOpToken: 'SECRET',
    headers: { 'x-api-key': 'SECRET' },
    body: 'SECRET',
  }
  logger.warn({ ...secrets, request: { ...secrets, inner: { ...secrets } } }, 'careless')

  expect(lines.join()).not.toContain('SECRET')
})

test('an error is written with its causes, without keys, credentials and payloads in their texts', () => {
  const { logger, lines } = createProbe()
  const inner = new Error(
    `POST https://user:pass@rpc.example/v2/APIKEY?token=T failed: 0x${'ab'.repeat(200)}`,
  )
  const error = Object.assign(new Error(`refused ${apiKey}`, { cause: inner }), {
    code: 'E1',
    request: { apiKey },
  })
  logger.error({ err: error }, 'request failed')

  const { err } = JSON.parse(lines[0] ?? '')
  expect(err).toMatchObject({ message: 'refused [api key]', code: 'E1' })
  expect(err.cause.message).toBe('POST https://rpc.example failed: [long value]')
  expect(lines.join()).not.toMatch(/SSSS|pass@|APIKEY|abababab/)
  expect(err.stack).toContain('logger.test.ts')
})

test('warnings and errors that repeat are one line, and information is always written', () => {
  const { logger, lines } = createProbe()

  for (let turn = 0; turn < 3; turn += 1) {
    logger.warn({ err: new Error('down'), lane: `lane ${turn}` }, 'lane step failed')
    logger.error('not as it should be')
    logger.info({ swapId: 'swp_1' }, 'sent')
  }

  const messages = lines.map((line) => JSON.parse(line).msg)
  expect(messages).toEqual(['lane step failed', 'not as it should be', 'sent', 'sent', 'sent'])
})

test('an error whose stack was written is written without it', () => {
  const { logger, lines } = createProbe()

  logger.warn({ err: new Error('down'), source: 'keys' }, 'refresh failed')
  logger.warn({ err: new Error('down'), source: 'stops' }, 'refresh failed')

  const [first, second] = lines.map((line) => JSON.parse(line))
  expect(first.err.stack).toContain('at ')
  expect(second).toMatchObject({ level: 'warn', source: 'stops', err: { type: 'Error', message: 'down' } })
  expect(second.err).not.toHaveProperty('stack')
})
