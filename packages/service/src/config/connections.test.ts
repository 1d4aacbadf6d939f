import { expect, test } from 'vitest'
import { neededConnections } from './connections.ts'
import { defaultConnections } from './finish.ts'

const attesters = { members: ['0xA'], threshold: 1 }
const nextAttesters = { members: ['0xa', '0xB', '0xC'], threshold: 2 }

test('one process of each role needs its pool, API and worker a listener, and commands three', () => {
  expect(neededConnections({ connections: defaultConnections, attesters })).toBe(21 + 21 + 4 + 2 + 3)
})

test('pools and numbers of processes are those of the configuration', () => {
  const connections = { apiPool: 10, apiProcesses: 3, workerPool: 12, workerProcesses: 2, attesterPool: 2 }

  expect(neededConnections({ connections, attesters, nextAttesters })).toBe(3 * 11 + 2 * 13 + 3 * 2 + 2 + 3)
})
