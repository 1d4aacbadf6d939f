import { delay } from '../../bench/clock.ts'
import type { Random } from '../../bench/random.ts'
import { type Answer, type ApiClient, type Call, createApiClient } from '../../client.ts'
import { patience } from '../../patience.ts'
import type { Ledger } from '../ledger.ts'

/** A caller that records its requests and answers like Jepsen: invoke, then ok, fail or info. */
export type Caller = ApiClient & { note(entry: object): void }

type Options = {
  id: number
  apiUrls: readonly string[]
  apiKey: string
  ledger: Ledger
  random: Random
  isOver(): boolean
}

const TIMEOUT_MS = 20_000 * patience
const [HASTY, HASTY_MS] = [0.2, 400]
const AGAIN_MS = 300
const MOST_AGAIN_MS = 3_000

/**
 * Calls any API process, and another one if that fails. Repeatable requests are repeated until there is a
 * meaningful answer: `info` means that the outcome is unknown.
 */
export function createCaller(options: Options): Caller {
  const { id, apiUrls, apiKey, ledger, random, isOver } = options
  const note = (entry: object) => ledger.history({ client: id, ...entry })
  let calls = 0

  async function once<Body>(...[method, path, body, headers]: Parameters<Call>): Promise<Answer<Body>> {
    // Some payers hang up before the answer, and ask again.
    const isHasty = headers !== undefined && random.next() < HASTY
    const response = await fetch(`${random.pick(apiUrls)}${path}`, {
      method,
      signal: AbortSignal.timeout(isHasty ? HASTY_MS : TIMEOUT_MS),
      headers: {
        'x-api-key': apiKey,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} }
  }

  const call: Call = async <Body>(...asked: Parameters<Call>) => {
    const [method, path] = asked
    for (;;) {
      const n = calls++
      note({ n, type: 'invoke', method, path })
      const answer = await once<Body>(...asked).catch((error: unknown) => {
        note({ n, type: 'info', path, why: String(error) })
        return undefined
      })
      if (answer) {
        const { status, headers } = answer
        const kind = status === 200 || status === 202 ? 'ok' : 'fail'
        const retryAfter = headers.get('retry-after')
        note({ n, type: kind, path, status, retryAfter, reply: summary(answer.body) })
        if (status < 500 && status !== 429) return answer
      }
      if (isOver()) throw new Error(`${path}: no answer until the end`)
      // As the answer asks: callers that do not wait keep a busy machine from getting well.
      const askedMs = 1_000 * Number(answer?.headers.get('retry-after') ?? 0)
      await delay(Math.max(AGAIN_MS, Math.min(askedMs, MOST_AGAIN_MS)) + random.integer(0, AGAIN_MS))
    }
  }
  return { ...createApiClient({ apiUrl: '', apiKey }, call), note }
}

/** The fields that the checker needs; tokens are long and secret. */
function summary(body: unknown): object {
  const fields = body as Record<string, unknown>
  const named = [
    'code',
    'swapId',
    'status',
    'substatus',
    'originTxHash',
    'deliveryTxHash',
    'geoOpHash',
    'refund',
  ]
  return Object.fromEntries(named.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])))
}
