import { expect, test } from 'vitest'
import { findServerCrashes } from './checker/server-crashes.ts'

const at = '2026-11-02 11:39:04.812 UTC [612]'

test('a PostgreSQL process that a signal ended is found, of any kind and version', () => {
  const crashes = [
    `${at} LOG:  client backend (PID 688) was terminated by signal 11: Segmentation fault`,
    `${at} LOG:  server process (PID 689) was terminated by signal 6: Aborted`,
  ]
  const log = [
    ...[
      `${at} LOG:  starting PostgreSQL 18.4`,
      crashes[0],
      `${at} DETAIL:  Failed process was running: with`,
    ],
    ...[`${at} LOG:  terminating any other active server processes`, crashes[1], ''],
  ].join('\n')

  expect(findServerCrashes(log)).toEqual(crashes)
})

test('a server that was killed as a whole, or that ended its connections on command, has not crashed', () => {
  const log = [
    `${at} LOG:  database system was interrupted; last known up at 2026-11-02 11:38:58 UTC`,
    `${at} LOG:  database system was not properly shut down; automatic recovery in progress`,
    `${at} FATAL:  terminating connection due to administrator command`,
    `${at} LOG:  received fast shutdown request`,
    `${at} LOG:  background worker "logical replication launcher" (PID 660) exited with exit code 1`,
  ].join('\n')

  expect(findServerCrashes(log)).toEqual([])
})
