import { type Check, each } from './evidence.ts'

const CRASH = /^.*\(PID \d+\) was terminated by signal \d+.*$/gm

/**
 * The lines of a PostgreSQL log that report a process ended by a signal. Tests kill only the postmaster, and
 * its children then exit by themselves. Any such line is therefore a fault of the server.
 */
export function findServerCrashes(log: string): string[] {
  return log.match(CRASH) ?? []
}

/** INV-25. */
export const databaseSurvives: Check = ({ input }) => {
  const log = input.logs.find(({ name }) => name === 'postgres.log')
  if (!log) return [{ invariant: 'INV-25', what: 'The log of PostgreSQL is missing' }]
  return each('INV-25', findServerCrashes(log.text), (line) => line)
}
