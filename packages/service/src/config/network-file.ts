import { readFileSync } from 'node:fs'
import type { NetworkConfig } from '../config.ts'
import { runChecks } from './check.ts'
import { JsonError, type Position, parseJson } from './json-text.ts'
import { checksOf } from './network-problems.ts'
import { NetworkSchema } from './network-schema.ts'
import { findShapeProblems, type Problem } from './shape.ts'

export type PlacedProblem = Problem & Position
export type NetworkFile = { network: NetworkConfig; problems: readonly PlacedProblem[] }

/** Reads a configuration and everything that is wrong with it, in the order of its lines. */
export function parseNetwork(text: string): NetworkFile {
  try {
    const { value, repeated, positionOf } = parseJson(text)
    const problems = [
      ...repeated.map((path) => ({ path, message: 'is there twice' })),
      ...findProblems(value).map((problem) => sayWhatIsLeft(value, problem)),
    ].map((problem) => ({ ...problem, ...positionOf(problem.path) }))
    problems.sort((a, b) => a.line - b.line || a.column - b.column)
    return { network: value as NetworkConfig, problems }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { message, position } = error
    return {
      network: {} as NetworkConfig,
      problems: [{ path: '', message: `not JSON: ${message}`, ...position }],
    }
  }
}

/** What does not have its shape, and what of the rest does not fit each other. */
function findProblems(value: unknown): Problem[] {
  const problems = findShapeProblems(NetworkSchema, value)
  const misshapen = problems.flatMap(({ misshapen: path }) => path ?? [])
  return [...problems, ...runChecks(checksOf(value as NetworkConfig), misshapen)]
}

/** Stands in a new file for what nobody but the operator knows. */
export const TO_FILL_IN = 'TO FILL IN' as const

const SOURCE = ': a feed of the asset in USD, as described in docs/operations/prices.md'

function sayWhatIsLeft(value: unknown, { path, message }: Problem): Problem {
  const parts = path.split('/').slice(1)
  const found = parts.reduce<unknown>((inner, part) => (inner as Record<string, unknown>)?.[part], value)
  if (found !== TO_FILL_IN) return { path, message }
  const isSource = parts[0] === 'assets' && parts[2] === 'sources'
  return { path, message: `is yours to fill in${isSource ? SOURCE : ''}` }
}

/** `file:line:column: /path: message`, as compilers write it and editors open it. */
export function describeProblem(file: string, { path, message, line, column }: PlacedProblem): string {
  return `${file}:${line}:${column}: ${path ? `${path}: ` : ''}${message}`
}

/** The network of a file; what is wrong with it, or with reading it, is added to `problems`. */
export function readNetwork(path: string | undefined, problems: string[]): NetworkConfig {
  try {
    if (!path) throw new Error('GEOSWAP_CONFIG is not set: it names the JSON file of chains and assets')
    const file = parseNetwork(readFileSync(path, 'utf8'))
    problems.push(...file.problems.map((problem) => describeProblem(path, problem)))
    return file.network
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
    return {} as NetworkConfig
  }
}
