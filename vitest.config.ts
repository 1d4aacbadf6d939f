import { defineConfig } from 'vitest/config'
import { selectionOf } from './scripts/test-parts.ts'
import { patience } from './test/patience.ts'

const isolated = {
  pool: 'forks' as const,
  testTimeout: 60_000 * patience,
  hookTimeout: 120_000 * patience,
  setupFiles: ['test/patient-waits.ts'],
  // Tests allocate much that lives briefly: with room for it, a sixth of their processor time is saved.
  execArgv: ['--max-semi-space-size=64'],
}
// Files of one process share what they import: loading it anew for each would take half of the time of all tests.
const shared = { ...isolated, isolate: false }

/** Projects that start a network; their files take turns, since most of them halt its chains. */
const withNetwork = (
  name: string,
  network: string,
  { seconds, order }: { seconds: number; order: number },
) => ({
  test: {
    ...shared,
    ...selectionOf(name),
    name,
    globalSetup: [network],
    fileParallelism: false,
    testTimeout: seconds * 1_000 * patience,
    sequence: { groupOrder: order },
  },
})

/** Projects whose files each break a network of their own. */
const breaking = (name: string, { seconds, order }: { seconds: number; order: number }) => ({
  test: {
    ...isolated,
    ...selectionOf(name),
    name,
    fileParallelism: false,
    testTimeout: seconds * 1_000 * patience,
    sequence: { groupOrder: order },
  },
})

const compiled = ['packages/contracts/test/compile-once.ts']
const inMemory = (name: string) => ({
  test: { ...shared, ...selectionOf(name), name, globalSetup: compiled },
})

// Which command runs which of them: scripts/test-parts.ts.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      inMemory('unit'),
      inMemory('searches'),
      inMemory('lies'),
      withNetwork('e2e', 'test/e2e/network.ts', { seconds: 150, order: 1 }),
      withNetwork('e2e-rest', 'test/e2e/network.ts', { seconds: 150, order: 2 }),
      breaking('faults', { seconds: 240, order: 3 }),
      breaking('days', { seconds: 240, order: 4 }),
      // SDK, command line, MCP server, examples and page as their users run them.
      withNetwork('clients', 'test/clients/network.ts', { seconds: 120, order: 5 }),
      withNetwork('packages', 'test/clients/network.ts', { seconds: 120, order: 6 }),
      withNetwork('browser', 'test/clients/network.ts', { seconds: 120, order: 7 }),
      // Chains that behave like public ones.
      withNetwork('shape', 'test/shape/network.ts', { seconds: 420, order: 8 }),
      breaking('proof', { seconds: 120, order: 9 }),
      withNetwork('agents', 'test/clients/network.ts', { seconds: 120, order: 11 }),
      withNetwork('agentkit', 'test/clients/network.ts', { seconds: 120, order: 12 }),
      { test: { ...isolated, ...selectionOf('gate'), name: 'gate', sequence: { groupOrder: 10 } } },
    ],
  },
})
