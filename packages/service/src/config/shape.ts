import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { escapeName } from './json-text.ts'

/** What is wrong, and with what: the path is a JSON pointer. */
export type Problem = { path: string; message: string }

/** `misshapen` is the part that cannot be read as what it should be. A field too much leaves all others readable. */
export type ShapeProblem = Problem & { misshapen?: string }

type ShapeError = ReturnType<typeof Value.Errors>[number]

const IN_UNION = /\/anyOf\/(\d+)/
const DISCRIMINANT = /^(.*)\/(?:kind|family)$/

/** Every way in which a value does not have the shape of its schema. */
export function findShapeProblems(schema: TSchema, value: unknown): ShapeProblem[] {
  const errors = ofMeantBranches(allErrors(schema, value))
  const problems = errors.flatMap(toProblems)
  const seen = new Set<string>()
  return problems.filter(({ path, message }) => {
    const isNew = !seen.has(`${path} ${message}`)
    seen.add(`${path} ${message}`)
    return isNew
  })
}

/** The library stops at the eighth error unless it is told otherwise, and it can only be told for the whole process. */
function allErrors(schema: TSchema, value: unknown): ShapeError[] {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: 10_000 })
  try {
    return [...Value.Errors(schema, value)]
  } finally {
    Settings.Set({ maxErrors })
  }
}

/** Something is judged by the kind or family that it says it is of: "none of the two fits" would help nobody. */
function ofMeantBranches(errors: readonly ShapeError[]): ShapeError[] {
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
  if (keyword === 'anyOf')
    return [{ path, message: 'its kind or family is not one of those there are', misshapen: path }]
  if (error.keyword === 'additionalProperties') {
    const names = error.params.additionalProperties
    return names.map((name) => ({ path: `${path}/${escapeName(name)}`, message: 'there is no such field' }))
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
