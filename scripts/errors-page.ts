import {
  BODY_ERRORS,
  type CatalogueEntry,
  type Endpoint,
  type ErrorCode,
  endpoints,
  errorCatalogue,
  sharedErrorsOf,
} from '@geoswap/wire'

const INTRO = `# Errors

Generated from \`packages/wire/src/errors.ts\`. Every error has one body:

\`\`\`json
{
  "code": "QUOTE_EXPIRED",
  "message": "The quote has expired. Request a fresh quote and build with it.",
  "requestId": "req_5f2c9a7be1d40836000001",
  "retryable": false,
  "recovery": { "action": "REQUOTE" }
}
\`\`\`

\`message\` is for a person, \`recovery.action\` for a program; its parameters stand beside it (\`retryAfterMs\`,
\`minAmount\`, \`maxAmount\`). \`retryable\`: the same request may succeed later. \`requestId\` is also the header
\`x-request-id\`. \`details.issues[]\` names each refused field. Codes are never reused, renamed or given another
status.
`

/** docs/errors.md: every code, its meaning, the caller's action, and the calls that return it. */
export function errorsPage(): string {
  const entries = Object.entries(errorCatalogue) as [ErrorCode, CatalogueEntry][]
  const rows = entries
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, message, retryable, action }]) => {
      const cells = [status, `\`${code}\``, message, `\`${action}\``, retryable ? 'yes' : 'no', callsOf(code)]
      return `| ${cells.join(' | ')} |`
    })
  const head = '| HTTP | code | message | recovery | retryable | calls |\n|---|---|---|---|---|---|'
  return `${INTRO}\n${head}\n${rows.join('\n')}\n`
}

function callsOf(code: ErrorCode): string {
  const all: readonly Endpoint[] = Object.values(endpoints)
  const answering = all.filter((endpoint) => codesOf(endpoint).includes(code))
  if (answering.length === all.length) return 'every call'
  if (answering.length === 0) return 'unknown paths'
  const isKeyed = ({ isOpen }: Endpoint) => !isOpen
  if (answering.length === all.filter(isKeyed).length && answering.every(isKeyed))
    return 'every call with an API key'
  if (answering.length === all.filter(({ body }) => body).length && answering.every(({ body }) => body)) {
    return 'every call with a body'
  }
  const paths = new Set(answering.map(({ path }) => path.replace('/swap/', '')))
  return [...paths].map((path) => `\`${path}\``).join(', ')
}

function codesOf(endpoint: Endpoint): readonly ErrorCode[] {
  return [...sharedErrorsOf(endpoint), ...(endpoint.body ? BODY_ERRORS : []), ...endpoint.errors]
}
