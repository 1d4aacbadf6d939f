import { ALLOW, type Answer, type Asked, UNKNOWN } from './screening.ts'

type HttpOptions = {
  name: string
  onUnknown: Asked['onUnknown']
  /** Posts a JSON body to the service, and returns the text of its answer. Throws without one. */
  post(body: string): Promise<string>
}

/** Asks a service of the operator's choice. See docs/operations/screening.md#a-service-of-your-own. */
export function createHttpSource({ name, onUnknown, post }: HttpOptions): Asked {
  return {
    name,
    onUnknown,
    keyOf: ({ address, chainId, role }) => `${chainId} ${role} ${address}`,
    ask: async ({ address, chainId, role }) =>
      toAnswer(name, await post(JSON.stringify({ address, chainId, role }))),
  }
}

/** Any other decision is unknown. Throws if the text is no JSON object: that says nothing about an address. */
export function toAnswer(list: string, text: string): Answer {
  const parsed = parse(text)
  if (parsed['decision'] === 'allow') return ALLOW
  if (parsed['decision'] !== 'deny') return UNKNOWN
  const textOf = (value: unknown, fallback: string) => (typeof value === 'string' ? value : fallback)
  return {
    kind: 'deny',
    reason: textOf(parsed['reason'], 'denied'),
    list: textOf(parsed['list'], list),
    version: textOf(parsed['version'], ''),
  }
}

function parse(text: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
    return parsed as Record<string, unknown>
  throw new Error('The answer is no JSON object')
}
