/** The commands that run tests: what a developer waits for, what is left out there, and what neither runs. */
export type TestCommand = 'test' | 'test:rest' | 'test:proof' | 'test:agents' | 'test:agentkit'

export type TestPart = {
  /** Also the name of its project in vitest.config.ts; the check is none. */
  name: string
  command: TestCommand
  /** A file belongs to the first part that lists it. */
  files: readonly string[]
  /** The parts of its command that may run at the same time, named by one of the two. */
  beside: readonly string[]
  /** It has a lower priority: it uses the processors while the others wait. */
  isPatient?: boolean
  /** Little runs beside it, so a failure is its own: its files get no second look. */
  isAlone?: boolean
}

const everyTest = (folder: string) => `${folder}/**/*.test.ts`

/** A part starts as soon as all that run may run beside it, the first in this list first. */
export const testParts: readonly TestPart[] = [
  // The rules of these have tests of their own beside the code; what they wait for takes minutes.
  {
    name: 'e2e-rest',
    command: 'test:rest',
    files: [
      'test/e2e/{claims,deposits,discounts,inventory,prices,reorgs,screening,silent-wallets}.test.ts',
      'test/e2e/{solana-refunds,strangers,tokens-expiry,transfers,venues,x402-solana}.test.ts',
    ],
    beside: ['gate', 'shape', 'days', 'packages', 'browser', 'searches', 'lies'],
  },
  // It uses both processors.
  { name: 'gate', command: 'test:rest', files: [everyTest('test/chaos')], beside: [], isAlone: true },
  {
    name: 'shape',
    command: 'test:rest',
    files: [everyTest('test/shape')],
    beside: ['days', 'packages', 'browser', 'searches', 'lies'],
  },
  {
    name: 'days',
    command: 'test:rest',
    files: ['test/faults/{adding,attesters,clock,days}.test.ts'],
    beside: ['searches', 'lies'],
  },
  {
    name: 'packages',
    command: 'test:rest',
    files: ['test/clients/{openapi,packages,quickstart,x402-buy,x402-buy-solana}.test.ts'],
    beside: ['searches', 'lies'],
  },
  {
    name: 'browser',
    command: 'test:rest',
    files: [everyTest('test/browser')],
    beside: ['searches', 'lies'],
  },
  {
    name: 'searches',
    command: 'test:rest',
    files: [
      'packages/contracts/test/{fuzz,gas,generated,properties}.test.ts',
      // If these fail, so do the parts shape and packages.
      'packages/devnet/src/shape/**/*.test.ts',
      'packages/devnet/test/{network,solana-shape,start}.test.ts',
      'packages/service/test/protocol-model/{base,deposits,mutants,soft-finality,solana}.test.ts',
      'packages/solana-escrow/test/{differential-rest,systematic}.test.ts',
      everyTest('packages/solana-escrow/test/mutants'),
    ],
    beside: [],
    isPatient: true,
  },
  { name: 'lies', command: 'test:rest', files: [everyTest('test/lies')], beside: [], isPatient: true },

  // Most of its time it waits for blocks.
  {
    name: 'e2e',
    command: 'test',
    files: [everyTest('test/e2e')],
    beside: ['check', 'clients', 'faults', 'unit'],
  },
  // It finds most mistakes.
  { name: 'check', command: 'test', files: [], beside: [], isAlone: true },
  { name: 'clients', command: 'test', files: [everyTest('test/clients')], beside: ['unit'] },
  { name: 'faults', command: 'test', files: [everyTest('test/faults')], beside: ['unit'] },
  {
    name: 'unit',
    command: 'test',
    files: ['packages/*/src', 'packages/*/test', 'scripts'].map(everyTest),
    beside: [],
    isPatient: true,
  },

  { name: 'proof', command: 'test:proof', files: [everyTest('test/proof')], beside: [] },
  // They need packages that the repository does not install.
  { name: 'agents', command: 'test:agents', files: [everyTest('test/agents')], beside: [] },
  { name: 'agentkit', command: 'test:agentkit', files: [everyTest('test/agentkit')], beside: [] },
]

/** The globs that vitest takes for a part. */
export function selectionOf(name: string): { include: string[]; exclude: string[] } {
  const index = testParts.findIndex((part) => part.name === name)
  const part = testParts[index]
  if (!part) throw new Error(`${name} is not in the table`)
  const earlier = testParts.slice(0, index).flatMap(({ files }) => files)
  return { include: [...part.files], exclude: ['**/node_modules/**', ...earlier] }
}

/** The waiting parts that may start beside those that run. */
export function startable(waiting: readonly TestPart[], running: readonly TestPart[]): TestPart[] {
  const started: TestPart[] = []
  for (const part of waiting)
    if ([...running, ...started].every((other) => mayRunBeside(part, other))) started.push(part)
  return started
}

const mayRunBeside = (one: TestPart, other: TestPart) =>
  one.beside.includes(other.name) || other.beside.includes(one.name)
