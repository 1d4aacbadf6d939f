import * as wire from '@geoswap/wire'

type Schema = {
  type?: string | readonly string[]
  description?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  patternProperties?: Readonly<Record<string, Schema>>
}

const exported: Readonly<Record<string, unknown>> = wire

/** Types of the interface that no schema has. */
const UNIONS: Readonly<Record<string, readonly string[]>> = {
  ErrorCode: wire.ERROR_CODES,
  TerminalStatus: wire.TERMINAL_STATUSES,
}

const wide = wire.QuoteRequest as Schema
const chain = { type: 'integer' }

/** Requests name chains by number, or by any of their ids. */
const NARROWED: Readonly<Record<string, Schema>> = {
  QuoteRequest: {
    ...wide,
    properties: { ...wide.properties, originChain: chain, destinationChain: chain },
  },
  NamedQuoteRequest: wide,
}

/** Declares these types of the HTTP interface in plain TypeScript, so that applications need no schema library. */
export function wireTypes(names: readonly string[]): string {
  return names.map((name) => `export type ${name} = ${declare(name)}\n`).join('\n')
}

function declare(name: string): string {
  const union = UNIONS[name]
  if (union) return toUnion(union)
  const schema = NARROWED[name] ?? exported[name]
  if (typeof schema === 'object' && schema !== null) return toType(schema)
  throw new Error(`wire has no schema ${name}: name its values in UNIONS`)
}

export function toType(schema: Schema, indent = ''): string {
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return toUnion(schema.enum)
  if (schema.anyOf) return schema.anyOf.map((each) => toType(each, indent)).join(' | ')
  const { type } = schema
  if (typeof type === 'object')
    return type.map((each) => toType({ ...schema, type: each }, indent)).join(' | ')
  switch (type) {
    case 'object':
      return toObject(schema, indent)
    case 'array':
      return `Array<${toType(schema.items ?? {}, indent)}>`
    case 'integer':
      return 'number'
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type
    case undefined:
      return 'unknown'
    default:
      throw new Error(`There is no type for a schema of type ${type}`)
  }
}

function toUnion(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(' | ')
}

function toObject({ properties = {}, required = [], patternProperties }: Schema, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).flatMap(([name, schema]) => [
    ...(schema.description ? [`${inner}/** ${schema.description.replaceAll('*/', '*\\/')} */`] : []),
    `${inner}${toKey(name)}${required.includes(name) ? '' : '?'}: ${toType(schema, inner)}`,
  ])
  const [others] = Object.values(patternProperties ?? {})
  if (others) lines.push(`${inner}[name: string]: ${toType(others, inner)}`)
  return lines.length === 0 ? 'Record<string, never>' : `{\n${lines.join('\n')}\n${indent}}`
}

function toKey(name: string): string {
  return /^\w+$/.test(name) ? name : JSON.stringify(name)
}
