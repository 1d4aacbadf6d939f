/** The parts of JSON Schema that our interface uses. */
type Schema = {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  format?: string
  pattern?: string
  description?: string
  required?: readonly string[]
  properties?: Readonly<Record<string, Schema>>
  patternProperties?: Readonly<Record<string, Schema>>
  items?: Schema
} & Readonly<Record<string, unknown>>

type Row = { name: string; type: string; isRequired: boolean; text: string }

/** One row per field; nested fields by their path: `fees[].kind`. */
export function toRows(schema: Schema, name = '', isRequired = false): Row[] {
  const own = { name, type: typeOf(schema), isRequired, text: textOf(schema) }
  const inside = toInside(schema, name)
  // The root has no name: it is shown only if it has no fields.
  return name === '' && inside.length > 0 ? inside : [own, ...inside]
}

function toInside(
  { properties = {}, patternProperties = {}, items, required = [] }: Schema,
  name: string,
): Row[] {
  const below = (field: string) => (name === '' ? field : `${name}.${field}`)
  return [
    ...Object.entries(properties).flatMap(([field, schema]) =>
      toRows(schema, below(field), required.includes(field)),
    ),
    ...Object.values(patternProperties).flatMap((schema) => toRows(schema, below('*'))),
    // An item has its own row only if it has fields or a description.
    ...(items ? toItems(items, `${name}[]`) : []),
  ]
}

function toItems(items: Schema, name: string): Row[] {
  const rows = toRows(items, name)
  const [own, ...inside] = rows
  return own?.text === '' ? inside : rows
}

function typeOf({ type, format, items, enum: values }: Schema): string {
  if (items) return `array of ${typeOf(items)}`
  if (values) return 'one of'
  return [[type ?? 'any'].flat().join(' or '), format && `(${format})`].filter(Boolean).join(' ')
}

const LIMITS: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  minItems: 'items, at least',
  maxItems: 'items, at most',
  minLength: 'characters, at least',
  maxLength: 'characters, at most',
}

function textOf(schema: Schema): string {
  const { description, enum: values, const: only, pattern } = schema
  const limits = Object.entries(LIMITS).flatMap(([name, words]) =>
    schema[name] === undefined ? [] : [`${words} ${schema[name]}`],
  )
  return [
    values && `${values.join(', ')}.`,
    only !== undefined && `Always ${only}.`,
    description,
    limits.length > 0 && `(${limits.join('; ')})`,
    pattern && `Matches ${pattern}`,
  ]
    .filter(Boolean)
    .join(' ')
}
