/** A token that differs from the configuration: it is in no new swap, and swaps in flight go on. */
export type ClosedToken = {
  token: string
  why: string
  /** Whether `service deploy` opens it. */
  isUndeployed?: true
}

/**
 * Differences between a chain and the configuration. A problem is about custody: contracts, roles, the chain itself.
 * That chain is not served. Strangers and third parties can bring about the others: a closed token stops its own
 * quotes, and a warning nothing.
 */
export type Findings = {
  problems: readonly string[]
  warnings: readonly string[]
  closed?: readonly ClosedToken[]
}

export function joinFindings(all: readonly Findings[]): Findings {
  return {
    problems: all.flatMap(({ problems }) => problems),
    warnings: all.flatMap(({ warnings }) => warnings),
    closed: all.flatMap(({ closed = [] }) => closed),
  }
}

/** The chain that a node serves, and the time of its head. */
export type NodeView = { chain: string; headSeconds: number }

type NodeCheck = {
  name: string
  urls: readonly string[]
  /** The expected chain. Without it, all nodes have to serve the same one. */
  chain: string | undefined
  maxHeadAgeMs: number
  now: number
  ask(index: number): Promise<NodeView>
}

// Blocks may be stamped slightly ahead of real time. A larger lead would shift deadlines.
const MAX_AHEAD_MS = 30_000

/** Checks every node separately, including those that are normally only a fallback. */
export async function checkNodes(check: NodeCheck): Promise<Findings> {
  const views = await Promise.all(
    check.urls.map((_, index) => check.ask(index).catch((error: unknown) => reasonOf(error))),
  )
  const expected = check.chain ?? views.find((view) => typeof view !== 'string')?.chain
  const problems: string[] = []
  const warnings: string[] = []
  for (const [index, view] of views.entries()) {
    const node = `${check.name}: the node at ${hostOf(check.urls[index] ?? '')}`
    if (typeof view === 'string') warnings.push(`${node} does not answer: ${view}`)
    else if (view.chain !== expected) problems.push(`${node} serves chain ${view.chain}, not ${expected}`)
    else warnings.push(...clockWarnings(node, check, view))
  }
  return { problems, warnings }
}

function clockWarnings(node: string, { now, maxHeadAgeMs }: NodeCheck, { headSeconds }: NodeView): string[] {
  const behind = now - headSeconds * 1_000
  const seconds = Math.round(Math.abs(behind) / 1_000)
  if (-behind > MAX_AHEAD_MS)
    return [`${node} is ${seconds} s ahead of this machine: one of the clocks is wrong`]
  if (behind <= maxHeadAgeMs) return []
  return [
    `${node} has no block of the last ${seconds} s: it is behind, or the clock of this machine is ahead`,
  ]
}

/** Without path and query, which contain providers' keys. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an invalid URL'
}

const REASONS = new Map([
  ['ECONNREFUSED', 'it refuses connections'],
  ['ENOTFOUND', 'unknown host'],
  ['EAI_AGAIN', 'unknown host'],
  ['ECONNRESET', 'it closed the connection'],
  ['ETIMEDOUT', 'no answer in time'],
])

/** The innermost reason: what the network or the node's server said. */
export function reasonOf(error: unknown): string {
  const { status, code, cause, shortMessage } = (error ?? {}) as Record<string, unknown>
  if (typeof status === 'number') return reasonOfStatus(status)
  const known = REASONS.get(String(code))
  if (known) return known
  if (cause instanceof Error) return reasonOf(cause)
  return String(shortMessage ?? (error instanceof Error ? error.message : error))
}

function reasonOfStatus(status: number): string {
  if (status === 401 || status === 403) return `HTTP ${status}: it refuses the key`
  if (status === 429) return 'HTTP 429: too many calls'
  return `HTTP ${status}`
}
