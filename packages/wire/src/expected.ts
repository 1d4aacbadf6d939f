import { findNearest } from './nearest.ts'

/** A symbol is in no JSON: the validator and the documents do not see it. */
const EXPECTED = Symbol('expected')

/** An option of a schema: how its values look, in words and with an example. Messages about wrong values say it. */
export function expecting(words: string): object {
  return { [EXPECTED]: words }
}

type Described = {
  [EXPECTED]?: string
  type?: string | string[]
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  properties?: Record<string, unknown>
}

/** How a value of this schema looks, to follow "must be". */
export function expectedOf(schema: unknown): string {
  const { [EXPECTED]: words, type, enum: values, properties, ...limits } = (schema ?? {}) as Described
  if (words !== undefined) return words
  if (values) return `one of ${values.join(', ')}`
  if (properties) return `an object with the fields ${listOf(Object.keys(properties))}`
  if (type === 'integer') return `a whole number${rangeOf(limits)}`
  if (type === 'number') return `a number${rangeOf(limits)}`
  return 'a text, such as "text"'
}

/** Why a name is refused, with the nearest known one, or all of them. */
export function describeUnknown(name: string, known: readonly string[]): string {
  const nearest = findNearest(name, known)
  if (nearest !== undefined) return `is not a known field, did you mean '${nearest}'?`
  if (known.length === 0) return 'is not a known field: this call takes none'
  return `is not a known field, known ${known.length === 1 ? 'is' : 'are'} ${listOf(known)}`
}

function rangeOf({ minimum, maximum }: Described): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`
  return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
    ? ` from ${minimum}`
    : ` from ${minimum} to ${maximum}`
}

function listOf(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}
