import { defineConfig } from 'vitest/config'
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

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: [
            ...['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts'],
            'test/lies/**/*.test.ts',
          ],
        },
      },
      {
        // One whole network for all of these; they take turns, since some of them halt its chains.
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/network.ts'],
          fileParallelism: false,
          testTimeout: 150_000 * patience,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Each file breaks a network of its own.
        test: {
          ...isolated,
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 240_000 * patience,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // SDK, command line, MCP server, examples and page as their users run them, against one network for all.
        test: {
          ...shared,
          name: 'clients',
          include: ['test/clients/**/*.test.ts', 'test/browser/**/*.test.ts'],
          globalSetup: ['test/clients/network.ts'],
          fileParallelism: false,
          testTimeout: 120_000 * patience,
          sequence: { groupOrder: 4 },
        },
      },
      {
        // Chains that behave like public ones: one network of that shape for all.
        test: {
          ...shared,
          name: 'shape',
          include: ['test/shape/**/*.test.ts'],
          globalSetup: ['test/shape/network.ts'],
          fileParallelism: false,
          testTimeout: 420_000 * patience,
          sequence: { groupOrder: 7 },
        },
      },
      {
        // Not part of `npm test`: each takes a minute or two, mostly waiting for deadlines.
        test: {
          ...isolated,
          name: 'proof',
          include: ['test/proof/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 120_000 * patience,
          sequence: { groupOrder: 6 },
        },
      },
      {
        // The short chaos run.
        test: {
          ...isolated,
          name: 'gate',
          include: ['test/chaos/**/*.test.ts'],
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
})
