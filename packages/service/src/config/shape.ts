import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { escapeName } from './json-text.ts'

/** A problem and its path, a JSON pointer. */
export type Problem = { path: string; message: string }

/** `misshapen` is the path of a part that cannot be read. An unknown field leaves all others readable. */
type ShapeProblem = Problem & { misshapen?: string }

type ShapeError = ReturnType<typeof Value.Errors>[number]

const IN_UNION = /\/anyOf\/(\d+)/
const DISCRIMINANT = /^(.*)\/(?:kind|family)$/

/** All violations of the schema. */
export function findShapeProblems(schema: TSchema, value: unknown): ShapeProblem[] {
  const errors = errorsOfMatchingBranch(allErrors(schema, value))
  const problems = errors.flatMap(toProblems)
  const seen = new Set<string>()
  return problems.filter(({ path, message }) => {
    const isNew = !seen.has(`${path} ${message}`)
    seen.add(`${path} ${message}`)
    return isNew
  })
}

/** The library stops after eight errors by default, and the limit is a process-wide setting. */
function allErrors(schema: TSchema, value: unknown): ShapeError[] {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: 10_000 })
  try {
    return [...Value.Errors(schema, value)]
  } finally {
    Settings.Set({ maxErrors })
  }
}

/**
 * Keeps the errors of the union branch that the value's kind or family selects: "matches none of two" would not help.
 */
function errorsOfMatchingBranch(errors: readonly ShapeError[]): ShapeError[] {
  const branchOf = (error: ShapeError) => IN_UNION.exec(error.schemaPath)?.[1]
  const others = errors.flatMap((error) => {
    const [, union] = (error.keyword === 'const' && DISCRIMINANT.exec(error.instancePath)) || []
    return union === undefined ? [] : [{ union, branch: branchOf(error) }]
  })
  const isMeant = (error: ShapeError) =>
    !others.some(({ union, branch }) => branch === branchOf(error) && isWithin(error.instancePath, union))
  const meant = errors.filter((error) => error.keyword !== 'anyOf' && isMeant(error))
  const isUnknown = ({ keyword, instancePath }: ShapeError) =>
    keyword === 'anyOf' && !meant.some((error) => isWithin(error.instancePath, instancePath))
  return [...meant, ...errors.filter(isUnknown)]
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`)
}

function toProblems(error: ShapeError): ShapeProblem[] {
  const { instancePath: path, keyword, message } = error
  if (keyword === 'boolean') return []
  if (keyword === 'anyOf') return [{ path, message: 'unknown kind or family', misshapen: path }]
  if (error.keyword === 'additionalProperties') {
    const names = error.params.additionalProperties
    return names.map((name) => ({ path: `${path}/${escapeName(name)}`, message: 'unknown field' }))
  }
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) => ({
      path,
      message: `${name} is missing`,
      misshapen: `${path}/${name}`,
    }))
  }
  return [{ path, message, misshapen: path }]
}

/** Finds items whose key repeats that of an earlier one. */
export function findRepeated<T>(
  items: readonly T[],
  keyOf: (item: T) => string | number,
  pathOf: (index: number) => string,
  nameOf = keyOf,
): Problem[] {
  const keys = items.map(keyOf)
  return items.flatMap((item, index) =>
    keys.indexOf(keyOf(item)) === index
      ? []
      : [{ path: pathOf(index), message: `${nameOf(item)} is repeated` }],
  )
}

/**
 * A check of several parts of a configuration against each other. It reads only these paths; `*` matches every item.
 */
export type Check = { reads: readonly string[]; find(): readonly Problem[] }

/** Runs the checks. A check that would read a malformed or missing part is skipped. */
export function runChecks(checks: readonly Check[], misshapen: readonly string[]): Problem[] {
  const isWhole = (read: string) => !misshapen.some((path) => pathsOverlap(read, path))
  return checks.filter(({ reads }) => reads.every(isWhole)).flatMap(({ find }) => find())
}

/** Whether one path equals or contains the other. */
function pathsOverlap(read: string, path: string): boolean {
  const [ours, theirs] = [read.split('/'), path.split('/')]
  const shared = Math.min(ours.length, theirs.length)
  return ours.slice(0, shared).every((part, index) => part === '*' || part === theirs[index])
}

/** The indices of a list; empty if the value is not one. */
export function indicesOf(items: unknown): number[] {
  return Array.isArray(items) ? [...items.keys()] : []
}
