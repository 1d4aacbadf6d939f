import { findNearest } from '@geoswap/wire/nearest'
import type { FastifyError } from 'fastify'
import type { Issue } from '../errors.ts'

// A body of 64 KiB can have thousands of invalid fields.
const MAX_ISSUES = 20

type Refused = NonNullable<FastifyError['validation']>[number]

/** One entry per rejected field, with its path in the request: `authorization.r`. */
export function toIssues(error: Pick<FastifyError, 'validation' | 'validationContext'>): Issue[] {
  const whole = error.validationContext === 'querystring' ? 'query' : (error.validationContext ?? 'body')
  return (error.validation ?? []).slice(0, MAX_ISSUES).map((refused) => toIssue(refused, whole))
}

/** With the option `verbose`, the validator adds the schema of the object. */
type Verbose = Refused & { parentSchema?: { properties?: Record<string, unknown> } }

function toIssue({ keyword, params, instancePath, message, parentSchema }: Verbose, whole: string): Issue {
  const path = instancePath.split('/').slice(1).map(unescapePointer)
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty)
    const nearest = findNearest(name, Object.keys(parentSchema?.properties ?? {}))
    return {
      field: nameOf([...path, name], whole),
      message: `is not a known field${nearest === undefined ? '' : `, did you mean '${nearest}'?`}`,
    }
  }
  if (keyword === 'required') {
    return { field: nameOf([...path, String(params.missingProperty)], whole), message: 'is required' }
  }
  const allowed = params.allowedValues
  if (Array.isArray(allowed))
    return { field: nameOf(path, whole), message: `must be one of ${allowed.join(', ')}` }
  return { field: nameOf(path, whole), message: message ?? 'is not valid' }
}

function nameOf(path: string[], whole: string): string {
  // The name of an unknown field comes from the caller: truncated, since it may have 64 KiB.
  return path.length === 0 ? whole : path.join('.').slice(0, 100)
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
