import { expect, test } from 'vitest'
import { reasonIn, startFailure } from './start-failure.ts'

const CRASH = `node:events:491
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use 127.0.0.1:8545
    at Server.setupListenHandle [as _listen2] (node:net:1463:16)
Emitted 'error' event on WebSocketServer instance at:
    at Server.emit (node:events:513:28) {
  code: 'EADDRINUSE',
  port: 8545
}

Node.js v20.19.2
`
const POSTGRES = `2026-01-01 00:00:00.000 UTC [7] LOG:  could not bind IPv4 address "127.0.0.1": Address already in use
2026-01-01 00:00:00.000 UTC [7] HINT:  Is another postmaster already running on port 20000?
2026-01-01 00:00:00.000 UTC [7] FATAL:  could not create any TCP/IP sockets
2026-01-01 00:00:00.000 UTC [7] LOG:  database system is shut down
`
const LOGGED = `{"level":"info","time":"now","msg":"api ready"}
{"level":"error","time":"now","name":"worker","err":{"message":"no lease"},"msg":"lane step failed"}
{"level":"error","time":"no`

test.each([
  ['a crash of Node.js', CRASH, 'listen EADDRINUSE: address already in use 127.0.0.1:8545'],
  ['PostgreSQL', POSTGRES, 'could not create any TCP/IP sockets'],
  ['plain words', 'Invalid configuration:\n- PORT is wrong\n', 'Invalid configuration: - PORT is wrong'],
  ['a logger', LOGGED, 'lane step failed: no lease'],
  ['nothing', '', undefined],
])('the reason for an end is read from the log of %s', (_, log, reason) => {
  expect(reasonIn(log)).toBe(reason)
})

test('a failed start is told in one sentence, with the next step that fits its reason', () => {
  const sentence = (reason: string) => startFailure('The chain alpha', new Error(reason)).message

  expect(sentence('EACCES: permission denied, open x')).toBe(
    'The chain alpha did not start: EACCES: permission denied, open x. ' +
      'Give this user access to it, or start in another folder: GEOSWAP_HOME=<folder> npm start.',
  )
  expect(sentence('Cannot find module x.')).toContain('find module x. Run npm ci, then start again.')
  expect(sentence('it ended with killed by SIGKILL')).toContain('stop other programs')
  expect(sentence('anything else')).toContain('report it with the log')
})

test('a failure that already names its part and the next step is not told twice', () => {
  const inner = startFailure('The process alpha', new Error('no space left on device'))

  expect(startFailure('The network', inner)).toBe(inner)
})
