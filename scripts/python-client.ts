import { createOpenApi } from '@geoswap/wire'

type Schema = {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
}
type Parameter = { name: string; in: 'query' | 'path' | 'header'; required?: boolean; schema: Schema }
type Content = Readonly<Record<string, { schema: Schema }>>
type Operation = {
  operationId: string
  summary: string
  parameters?: readonly Parameter[]
  requestBody?: { content: Content }
  responses: Readonly<Record<string, { content?: Content }>>
}
type Document = {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: { schemas: Readonly<Record<string, Schema>> }
}

const HEAD = `"""Every call of the service, with the standard library alone: from docs/openapi.json by npm run generate.

    client = Client("http://127.0.0.1:8080", api_key)
    quote = client.quote({"originChain": 31337, ...})
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NotRequired, TypedDict
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener


class Unmoved(HTTPRedirectHandler):
    """The API key is for this service alone and must not follow a redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


opener = build_opener(Unmoved)


def in_path(value: Any) -> str:
    return quote(str(value), safe="")


class GeoswapError(Exception):
    """A refusal by the service: \`code\` is stable, \`recovery\` says what to do."""

    def __init__(self, status: int, reply: dict[str, Any]):
        super().__init__(f"{reply.get('code')}: {reply.get('message')}")
        self.status = status
        self.code = reply.get("code")
        self.recovery = reply.get("recovery", {})
        self.reply = reply
`

const CLIENT = `class Client:
    """The calls of the service at this URL. \`timeout\` is in seconds; held reads take up to 15 s."""

    def __init__(self, base_url: str, api_key: str, timeout: float = 35):
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self.timeout = timeout

    def _open(self, method: str, path: str, query: dict[str, Any], body: Any = None):
        given = {name: value for name, value in query.items() if value is not None}
        url = self.base_url + path + ("?" + urlencode(given) if given else "")
        headers = {"x-api-key": self.api_key, "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            return opener.open(Request(url, data, headers, method=method), timeout=self.timeout)
        except HTTPError as error:
            text = error.read()
            try:
                reply = json.loads(text)
            except ValueError:
                reply = {"code": "UNEXPECTED_REPLY", "message": f"status {error.code} without JSON"}
            raise GeoswapError(error.code, reply) from None

    def _call(self, method: str, path: str, query: dict[str, Any], body: Any = None) -> Any:
        with self._open(method, path, query, body) as reply:
            return json.load(reply)

    def _stream(self, path: str, query: dict[str, Any]) -> Iterator[Any]:
        with self._open("GET", path, query) as reply:
            for line in reply:
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])
`

/** examples/python/geoswap_client.py: a client of every call in the OpenAPI document. */
export function pythonClient(): string {
  const { paths, components }: Document = JSON.parse(JSON.stringify(createOpenApi({ serverUrl: '/' })))
  const types = Object.entries(components.schemas).map(([name, schema]) => declare(name, schema))
  const methods = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => toMethod(method.toUpperCase(), path, operation)),
  )
  const aliases = types.filter((text) => !text.startsWith('class '))
  const classes = types.filter((text) => text.startsWith('class '))
  return `${[HEAD, `${aliases.join('\n')}\n`, ...classes, CLIENT].join('\n\n')}\n${methods.join('\n')}`
}

const MAX_COLUMNS = 120

/** \`before\`, the items and \`after\` on one line, or each item on its own line where they do not fit. */
function inColumns(indent: string, before: string, items: readonly string[], after: string): string {
  const line = `${indent}${before}${items.join(', ')}${after}`
  if (line.length <= MAX_COLUMNS) return line
  return [`${indent}${before}`, ...items.map((item) => `${indent}    ${item},`), `${indent}${after}`].join(
    '\n',
  )
}

function declare(name: string, schema: Schema): string {
  if (!schema.properties) return toField('', `${name} = `, schema, true)
  const fields = Object.entries(schema.properties).map(([field, each]) =>
    toField('    ', `${field}: `, each, schema.required?.includes(field) ?? false),
  )
  return `class ${name}(TypedDict):\n${fields.join('\n')}\n`
}

function toField(indent: string, before: string, schema: Schema, isRequired: boolean): string {
  const [open, close] = isRequired ? ['', ''] : ['NotRequired[', ']']
  const values = schema.enum?.map((value) => JSON.stringify(value))
  if (values) return inColumns(indent, `${before}${open}Literal[`, values, `]${close}`)
  return `${indent}${before}${open}${toType(schema)}${close}`
}

function toType(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? ''
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (values) return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`
  if (schema.anyOf) return schema.anyOf.map(toType).join(' | ')
  if (typeof schema.type === 'object') return schema.type.map((type) => toType({ type })).join(' | ')
  if (schema.type === 'array') return `list[${toType(schema.items ?? {})}]`
  const plain: Readonly<Record<string, string>> = {
    string: 'str',
    integer: 'int',
    number: 'float',
    boolean: 'bool',
  }
  return plain[schema.type ?? ''] ?? (schema.type === 'object' ? 'dict[str, Any]' : 'Any')
}

const KEYWORDS = ['from']
const toName = (name: string) => (KEYWORDS.includes(name) ? `${name}_` : name)

function toMethod(method: string, path: string, { operationId, summary, ...operation }: Operation): string {
  const named = (operation.parameters ?? []).filter((each) => each.in !== 'header')
  const body = operation.requestBody?.content['application/json']?.schema
  const [[media = '', reply] = []] = Object.entries(operation.responses['200']?.content ?? {})
  const isStream = media === 'text/event-stream'
  const typed = named.map(({ name, required, schema }) => {
    const type = toType(schema)
    return required ? `${toName(name)}: ${type}` : `${toName(name)}: ${type} | None = None`
  })
  const places = named.filter((each) => each.in === 'path').length
  const words = typed.length > places ? [...typed.slice(0, places), '*', ...typed.slice(places)] : typed
  const given = ['self', ...(body ? [`body: ${toType(body)}`] : []), ...words]
  const queried = named.filter((each) => each.in === 'query').map(({ name }) => `"${name}": ${toName(name)}`)
  const url = path.replace(/\{(\w+)\}/g, '{in_path($1)}')
  const target = `${url === path ? '' : 'f'}"${url}"`
  const args = [
    ...(isStream ? [] : [`"${method}"`]),
    target,
    `{${queried.join(', ')}}`,
    ...(body ? ['body'] : []),
  ]
  const type = isStream ? 'Iterator[StatusReply]' : toType(reply?.schema ?? {})
  return [
    inColumns('    ', `def ${toSnake(operationId)}(`, given, `) -> ${type}:`),
    `        """${summary}."""`,
    inColumns('        ', `return self.${isStream ? '_stream' : '_call'}(`, args, ')'),
    '',
  ].join('\n')
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
