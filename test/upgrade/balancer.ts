import { delay } from '../bench/clock.ts'
import { type ApiClient, type Call, createApiClient } from '../client.ts'

const LOOK_MS = 200

export type Balancer = {
  api: ApiClient
  /** The count of each status, and of missing answers. */
  answers: Map<string, number>
  /** Failures that callers must never see. */
  failures: string[]
  stop(): void
}

/** Callers behind a balancer, which checks `/ready` and sends every call to a ready process. */
export function createBalancer(apiUrls: readonly string[], apiKey: string): Balancer {
  const ready = new Set(apiUrls)
  const answers = new Map<string, number>()
  const failures: string[] = []
  let stopped = false
  let turn = 0
  const watch = async (url: string) => {
    while (!stopped) {
      const isReady = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
        async (reply) => {
          await reply.body?.cancel()
          return reply.status === 200
        },
        () => false,
      )
      if (isReady) ready.add(url)
      else ready.delete(url)
      await delay(LOOK_MS)
    }
  }
  for (const url of apiUrls) void watch(url)

  const call: Call = async (method, path, body) => {
    const url = [...ready][turn++ % Math.max(1, ready.size)] ?? apiUrls[0]
    const count = (what: string) => answers.set(what, (answers.get(what) ?? 0) + 1)
    const noteFailure = (error: Error) => {
      count('none')
      failures.push(`${method} ${path}: ${error.cause ?? error.message}`)
      throw error
    }
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(noteFailure)
    // An answer can also end in the middle of its body.
    const text = await response.text().catch(noteFailure)
    count(String(response.status))
    if (response.status >= 500) failures.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} }
  }
  return {
    ...{ answers, failures },
    api: createApiClient({ apiUrl: '', apiKey }, call),
    stop() {
      stopped = true
    },
  }
}
