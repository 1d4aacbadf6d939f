import {
  address,
  decimal,
  digits,
  name,
  solanaAddress,
  url,
  wsUrl,
} from '../packages/service/src/config/fields.ts'
import { NetworkSchema } from '../packages/service/src/config/network-schema.ts'

type Schema = {
  type?: string
  const?: string
  description?: string
  pattern?: string
  minimum?: number
  maximum?: number
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}

type Row = { path: string; value: string; description: string }

const INTRO = `# Configuration

Generated from \`packages/service/src/config/network-schema.ts\`. The configuration is one JSON file, named by
\`GEOSWAP_CONFIG\`. It holds no secret: keys are in the [environment](environment.md). Unknown fields and fields that
contradict each other are refused.

- \`service setup\` and \`service init\` write a file for public chains: [going live](../going-live.md#configuration).
- \`service check-config FILE\` names each problem with its line; \`--online\` also asks every node.
- \`$schema\` lets your editor complete and check the file: [config.schema.json](../config.schema.json).
- A running local network has a complete example in \`.geoswap/service.json\`.

More about [caps](caps.md), [price sources](prices.md), [venues](../venues.md) and the [gas float](inventory.md#gas).
`

/** docs/operations/configuration.md: every field of the configuration file, from the schema that checks it. */
export function configPage(): string {
  const root: Schema = JSON.parse(JSON.stringify(NetworkSchema))
  const sections = Object.entries(root.properties ?? {})
    .map(([field, schema]) => ({ title: titleOf(field, schema), rows: rowsBelow(schema, '') }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => `## ${title}\n\n${toTable(rows)}`)
  const top = Object.entries(root.properties ?? {}).map(([field, schema]) =>
    rowOf(titleOf(field, schema), schema, isRequired(root, field)),
  )
  return [INTRO, `## Top level\n\n${toTable(top)}`, ...sections].join('\n')
}

function toTable(rows: readonly Row[]): string {
  const lines = rows.map(({ path, value, description }) => `| \`${path}\` | ${value} | ${description} |`)
  return ['| field | value | |', '|---|---|---|', ...lines, ''].join('\n')
}

const isRequired = ({ required = [] }: Schema, field: string) => required.includes(field)
const titleOf = (field: string, { type }: Schema) => (type === 'array' ? `${field}[]` : field)

function rowOf(path: string, schema: Schema, required: boolean, only = ''): Row {
  const notes = [describeValue(schema), ...(required ? ['required'] : []), ...(only ? [`\`${only}\``] : [])]
  return { path, value: notes.filter(Boolean).join(', '), description: schema.description ?? '' }
}

/** The fields below a field, with their paths; none below a plain value. */
function rowsBelow(schema: Schema, at: string, only = ''): Row[] {
  if (schema.type === 'array' && schema.items) return rowsBelow(schema.items, at, only)
  if (schema.anyOf) return rowsOfBranches(schema.anyOf, at)
  return Object.entries(schema.properties ?? {}).flatMap(([field, each]) => {
    const path = `${at}${titleOf(field, each)}`
    return [rowOf(path, each, isRequired(schema, field), only), ...rowsBelow(each, `${path}.`, only)]
  })
}

/** Fields that all branches share come first; the others name the branch they belong to. */
function rowsOfBranches(branches: readonly Schema[], at: string): Row[] {
  const keyOf = (row: Row) => JSON.stringify(row)
  const plain = branches.map((branch) => rowsBelow(branch, at))
  const shared = new Set(
    plain[0]?.map(keyOf).filter((key) => plain.every((rows) => rows.some((row) => keyOf(row) === key))),
  )
  const first = plain[0]?.filter((row) => shared.has(keyOf(row))) ?? []
  const rest = branches.flatMap((branch, index) => {
    const named = rowsBelow(branch, at, discriminatorOf(branch))
    return named.filter((_, row) => !shared.has(keyOf(plain[index]?.[row] as Row)))
  })
  return [...first, ...rest]
}

const discriminatorOf = ({ properties = {} }: Schema): string =>
  Object.values(properties).find((each) => each.const !== undefined)?.const ?? ''

const PATTERNS = new Map(
  [
    [address(''), 'EVM address'],
    [solanaAddress(''), 'Solana address'],
    [digits(''), 'integer as text'],
    [decimal(''), 'decimal as text'],
    [name(''), 'lower-case name'],
    [url(''), 'URL'],
    [wsUrl(''), 'WebSocket URL'],
  ].map(([field, title]) => [(field as Schema).pattern, title as string]),
)
const pluralOf = (value: string) => (value.endsWith('s') ? `${value}es` : `${value}s`)

/** The upper bounds of `count` and `chainId`, which say nothing to an operator. */
const UNBOUNDED = new Set([2 ** 31 - 1, Number.MAX_SAFE_INTEGER])

function describeValue(schema: Schema): string {
  const { type, minimum, maximum = 0, patternProperties } = schema
  if (schema.const !== undefined) return `\`"${schema.const}"\``
  if (schema.anyOf?.every((each) => each.const !== undefined))
    return schema.anyOf.map(describeValue).join(' or ')
  if (patternProperties) return 'URL by chain id'
  if (type === 'integer') return UNBOUNDED.has(maximum) ? 'integer' : `integer ${minimum}..${maximum}`
  if (type === 'boolean') return 'true or false'
  if (type === 'string') return PATTERNS.get(schema.pattern) ?? 'text'
  if (type === 'array')
    return `list${schema.items?.type === 'string' ? ` of ${pluralOf(describeValue(schema.items))}` : ''}`
  return ''
}
