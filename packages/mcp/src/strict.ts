import { findNearest } from '@geoswap/wire/nearest'
import { z } from 'zod'

const MOST_NAMED = 40

/**
 * The arguments of a tool. An unknown one is refused with the nearest known name: ignored, a limit of the caller would
 * be no limit.
 */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((name) => refuse(name, known)).join(' ')
        : undefined,
  })
}

function refuse(name: string, known: readonly string[]): string {
  const nearest = findNearest(name, known)
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const all = known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`
  return `This tool has no argument ${JSON.stringify(name.slice(0, MOST_NAMED))}.${hint} ${all}`
}
