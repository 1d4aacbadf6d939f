import { readFileSync } from 'node:fs'
import type { NetworkConfig, NetworkFile } from '../config.ts'
import { finishNetwork } from './finish.ts'
import { JsonError, type Position, parseJson } from './json-text.ts'
import { checksOf } from './network-problems.ts'
import { NetworkSchema } from './network-schema.ts'
import { findShapeProblems, type Problem, runChecks } from './shape.ts'

type PlacedProblem = Problem & Position
type Parsed = { network: NetworkConfig; problems: readonly PlacedProblem[] }

/** Parses a configuration and finds all problems, in the order of their lines. With any, its defaults are missing. */
export function parseNetwork(text: string): Parsed {
  try {
    const { value, repeated, positionOf } = parseJson(text)
    const problems = [
      ...repeated.map((path) => ({ path, message: 'is repeated' })),
      ...findProblems(value).map((problem) => describePlaceholder(value, problem)),
    ].map((problem) => ({ ...problem, ...positionOf(problem.path) }))
    problems.sort((a, b) => a.line - b.line || a.column - b.column)
    const network = problems.length > 0 ? (value as NetworkConfig) : finishNetwork(value as NetworkFile)
    return { network, problems }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { message, position } = error
    return {
      network: {} as NetworkConfig,
      problems: [{ path: '', message: `not JSON: ${message}`, ...position }],
    }
  }
}

/** Fields of earlier versions. */
const REPLACED = new Map([
  ['/attester', 'was replaced: write "attesters": { "members": [this address], "threshold": 1 }'],
  ['/nextAttester', 'was replaced: write "nextAttesters": { "members": [this address], "threshold": 1 }'],
])

/** Violations of the schema, and contradictions between well-formed parts. */
function findProblems(value: unknown): Problem[] {
  const problems = findShapeProblems(NetworkSchema, value).map((problem) => ({
    ...problem,
    message: REPLACED.get(problem.path) ?? problem.message,
  }))
  const misshapen = problems.flatMap(({ misshapen: path }) => path ?? [])
  return [...problems, ...runChecks(checksOf(value as NetworkFile), misshapen)]
}

/** A placeholder in new files for values that only the operator knows. */
export const TO_FILL_IN = 'TO FILL IN' as const

const SOURCE = ': a feed of the asset in USD, as described in docs/operations/prices.md'

function describePlaceholder(value: unknown, { path, message }: Problem): Problem {
  const parts = path.split('/').slice(1)
  const found = parts.reduce<unknown>((inner, part) => (inner as Record<string, unknown>)?.[part], value)
  if (found !== TO_FILL_IN) return { path, message }
  const isSource = parts[0] === 'assets' && parts[2] === 'sources'
  return { path, message: `has to be filled in${isSource ? SOURCE : ''}` }
}

/** `file:line:column: /path: message`, as compilers write it, so that editors can open it. */
export function describeProblem(file: string, { path, message, line, column }: PlacedProblem): string {
  return `${file}:${line}:${column}: ${path ? `${path}: ` : ''}${message}`
}

/** Reads the network file and adds its problems, or those of reading it, to `problems`. */
export function readNetwork(path: string | undefined, problems: string[]): NetworkConfig {
  try {
    if (!path)
      throw new Error('GEOSWAP_CONFIG is not set: it is the path of the JSON file of chains and assets')
    const file = parseNetwork(readFileSync(path, 'utf8'))
    problems.push(...file.problems.map((problem) => describeProblem(path, problem)))
    return file.network
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
    return {} as NetworkConfig
  }
}
