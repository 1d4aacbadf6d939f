type Schema = Parameters<typeof toRows>[0]
type Content = Record<string, { schema: Schema; example?: unknown }>
type Parameter = {
  name: string
  in: string
  required?: boolean
  schema: Schema
  description?: string
  example?: unknown
}
type Response = { description: string; content?: Content }
type Operation = {
  operationId: string
  summary: string
  description: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, Response>
}
type Methods = Record<string, Operation>

/** The parts of an OpenAPI document that the reference shows. */
export type OpenApi = {
  info: { title: string; version: string; description: string }
  paths: Record<string, Methods>
  webhooks: Record<string, Methods>
  components: {
    schemas: { Error: Schema }
    headers: Record<string, { description: string }>
  }
}

type Call = { method: string; path: string; operation: Operation }

/** Renders the reference as one page that needs no script: with one, its examples can be copied. */
export function renderReference(document: OpenApi, { openApiUrl, style, script = '' }: Page): string {
  const { info, components } = document
  const calls = callsOf(document.paths)
  const hooks = callsOf(document.webhooks)
  const links = [...calls, ...hooks].map(
    ({ operation: { operationId, summary } }) => `<li><a href="#${operationId}">${html(summary)}</a></li>`,
  )
  const headers = Object.entries(components.headers).map(([name, { description }]) => [name, description])
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(info.title)} API</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${html(info.title)} API ${html(info.version)}</h1>
<p>${html(info.description)}</p>
<p>Every call takes the header <code>x-api-key</code>. The examples run in a shell that has
<code>GEOSWAP_URL</code> and <code>GEOSWAP_API_KEY</code>.
The same for machines: <a href="${html(openApiUrl)}">openapi.json</a>.</p>
</header>
<nav aria-label="Calls"><ul>${links.join('')}<li><a href="#errors">Errors</a></li></ul></nav>
<main>
${calls.map((call) => toSection(call, toCommand(call))).join('\n')}
<h2 id="webhooks">Webhooks</h2>
${hooks.map((hook) => toSection(hook, toPost(hook))).join('\n')}
<h2 id="errors">Errors</h2>
${toTable(components.schemas.Error)}
<h3>Headers of every answer</h3>
${rowsToTable(['header', 'says'], headers)}
</main>
${script && `<script>${script}</script>`}
</body>
</html>
`
}

type Page = { openApiUrl: string; style: string; script?: string }

function callsOf(paths: Record<string, Methods>): Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
}

/** A call as a command that can be pasted into a shell. */
function toCommand({ path, operation: { parameters = [], requestBody } }: Call): string {
  const given = parameters.flatMap(({ name, in: where, example }) =>
    example === undefined ? [] : [{ name, where, text: encodeURIComponent(String(example)) }],
  )
  const filled = given
    .filter(({ where }) => where === 'path')
    .reduce((text, { name, text: value }) => text.replace(`{${name}}`, value), path)
  const query = given
    .filter(({ where }) => where === 'query')
    .map(({ name, text }) => `${name}=${text}`)
    .join('&')
  const body = requestBody && exampleOf(requestBody.content)
  return [
    `curl "$GEOSWAP_URL${filled}${query && `?${query}`}"`,
    '-H "x-api-key: $GEOSWAP_API_KEY"',
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d '${body}'`]),
  ].join(' \\\n  ')
}

/** The post of the service to an endpoint. */
function toPost({ operation: { parameters = [], requestBody } }: Call): string {
  const headers = parameters.map(({ name, example }) => `${name}: ${example ?? '…'}`)
  return [...headers, '', (requestBody && exampleOf(requestBody.content)) ?? ''].join('\n')
}

function exampleOf(content: Content): string | undefined {
  const [only] = Object.values(content)
  const example = only?.example
  return typeof example === 'string' || example === undefined ? example : JSON.stringify(example, null, 2)
}

function toExample(name: string, text: string | undefined): string {
  if (!text) return ''
  const copy = `<button type="button" class="copy" hidden>Copy<span class="unseen"> the ${name}</span></button>`
  return `<div class="example"><p>Example ${name} ${copy}</p><pre tabindex="0">${html(text)}</pre></div>`
}

function toSection(call: Call, request: string): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = call.operation
  const given = parameters.map(({ name, in: where, required, schema, description = '' }) => {
    const [row] = toRows({ ...schema, description })
    const need = required ? 'required' : ''
    return [name, [where, row?.type, need].filter(Boolean).join(', '), row?.text ?? '']
  })
  const refusals = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(toRefusals)
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400)
  return `<section aria-labelledby="${operationId}">
<h2 id="${operationId}">${html(summary)}</h2>
<p><code class="call"><b>${call.method}</b> ${html(call.path)}</code></p>
<p>${html(description)}</p>
${given.length > 0 ? `<h3>Parameters</h3>${rowsToTable(['name', 'type', ''], given)}` : ''}
${toExample('request', request)}
${toExample('reply', exampleOf(answers[0]?.[1].content ?? {}))}
${requestBody ? `<h3>Body</h3>${toContent(requestBody.content)}` : ''}
${answers.map(([status, { content }]) => `<h3>Answer ${html(status)}</h3>${toContent(content ?? {})}`).join('')}
${refusals.length > 0 ? `<h3>Errors</h3>${rowsToTable(['status', 'meaning'], refusals)}` : ''}
</section>`
}

/** One row per error code: each is a paragraph of the description. */
function toRefusals([status, { description }]: [string, Response]): string[][] {
  return description.split('\n\n').map((paragraph) => [status, paragraph])
}

function toContent(content: Content): string {
  return Object.entries(content)
    .map(([type, { schema }]) => `<p><code>${html(type)}</code></p>${toTable(schema)}`)
    .join('')
}

function toTable(schema: Schema): string {
  const rows = toRows(schema)
  const [only] = rows
  // A schema without fields has no field name.
  if (only?.name === '') return `<p>${html([only.type, only.text].filter(Boolean).join(': '))}</p>`
  return rowsToTable(
    ['field', 'type', ''],
    rows.map(({ name, type, isRequired, text }) => [name, isRequired ? `${type}, required` : type, text]),
  )
}

function rowsToTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toCell = (cell: string) => `<td>${html(cell)}</td>`
  const toRow = ([first = '', ...rest]: readonly string[]) =>
    `<tr><th scope="row"><code>${html(first)}</code></th>${rest.map(toCell).join('')}</tr>`
  const titles = head.map((title) => (title === '' ? '<td></td>' : `<th scope="col">${title}</th>`)).join('')
  return `<div class="wide" tabindex="0"><table>
<thead><tr>${titles}</tr></thead>
<tbody>${rows.map(toRow).join('\n')}</tbody>
</table></div>`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}

/** The parts of JSON RowSchema that our interface uses. */
type RowSchema = {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  format?: string
  pattern?: string
  description?: string
  required?: readonly string[]
  properties?: Readonly<Record<string, RowSchema>>
  patternProperties?: Readonly<Record<string, RowSchema>>
  items?: RowSchema
} & Readonly<Record<string, unknown>>

type Row = { name: string; type: string; isRequired: boolean; text: string }

/** One row per field; nested fields by their path: `fees[].kind`. */
function toRows(schema: RowSchema, name = '', isRequired = false): Row[] {
  const own = { name, type: typeOf(schema), isRequired, text: textOf(schema) }
  const inside = toInside(schema, name)
  // The root has no name: it is shown only if it has no fields.
  return name === '' && inside.length > 0 ? inside : [own, ...inside]
}

function toInside(
  { properties = {}, patternProperties = {}, items, required = [] }: RowSchema,
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

function toItems(items: RowSchema, name: string): Row[] {
  const rows = toRows(items, name)
  const [own, ...inside] = rows
  return own?.text === '' ? inside : rows
}

function typeOf({ type, format, items, enum: values }: RowSchema): string {
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

function textOf(schema: RowSchema): string {
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
