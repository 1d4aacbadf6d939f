import { createRandom } from '../bench/random.ts'
import { type Exchange, exchange } from './exchange.ts'
import { createRequests, type Genuine, type OpenApi, type WireRequest } from './requests.ts'

type Options = {
  apiUrl: string
  apiKey: string
  document: OpenApi
  genuine: Genuine
  requests: number
  seed: number
  /** Strings that no answer may contain: URLs of nodes, keys. */
  secrets: readonly string[]
  onProgress?(sent: number): void
}
type FuzzReport = { sent: number; statuses: Record<string, number>; faults: string[] }

const AT_ONCE = 8
// Stacks, files, statements and messages of the database: none of the hostile texts contains any of these.
const LEAKS = new RegExp(
  [
    ...[
      '\\bat \\S+ \\(',
      'node_modules',
      '/src/',
      '\\.[jt]s:\\d',
      'syntax error at',
      'relation "',
      'SQLSTATE',
    ],
    ...['invalid input syntax', 'violates', 'ECONN', 'EAI_AGAIN', 'pg_'],
  ].join('|'),
  'i',
)
const OFFERED = ['x402Version', 'error', 'accepts']
const FIELDS = ['code', 'message', 'requestId', 'retryable', 'recovery']

/** Sends invalid requests, and reports answers that the service should not have given. */
export async function fuzz(options: Options): Promise<FuzzReport> {
  const next = createRequests({ ...options, random: createRandom(options.seed) })
  const statuses: Record<string, number> = {}
  const faults: string[] = []
  let sent = 0
  const work = async () => {
    while (sent < options.requests) {
      sent += 1
      if (sent % 1_000 === 0) options.onProgress?.(sent)
      const request = next()
      const answer = await exchange(options.apiUrl, request)
      const name = String(answer.status ?? 'closed')
      statuses[name] = (statuses[name] ?? 0) + 1
      const fault = faultOf(options, request, answer)
      if (fault) faults.push(`${fault}\n  to ${describe(request)}\n  was ${answer.body.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { sent, statuses, faults }
}

function faultOf({ secrets }: Options, request: WireRequest, answer: Exchange): string | undefined {
  const { status, head, body, isLate } = answer
  if (isLate) return 'no end of an answer'
  if (status === undefined) return request.isBroken ? undefined : 'no answer'
  if (status >= 500) return `a ${status}`
  if (secrets.some((secret) => body.includes(secret) || head.includes(secret))) return 'a secret in an answer'
  // Successful answers are public and may contain such words.
  if (status < 400) return undefined
  if (LEAKS.test(body)) return 'something internal in an answer'
  return request.method === 'HEAD' || hasFields(body, status === 402 ? OFFERED : FIELDS)
    ? undefined
    : `another body than that of an error (${status})`
}

function hasFields(body: string, fields: readonly string[]): boolean {
  try {
    const answer = JSON.parse(body)
    return fields.every((field) => field in answer)
  } catch {
    return false
  }
}

function describe({ method, target, headers, body }: WireRequest): string {
  const names = headers.map(([name, value]) =>
    name === 'x-api-key' ? name : `${name}: ${value.slice(0, 60)}`,
  )
  return `${method} ${target.slice(0, 200)} [${names.join('; ')}] ${body.toString().slice(0, 300)}`
}
