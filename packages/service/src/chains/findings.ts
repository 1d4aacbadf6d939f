/**
 * How a chain differs from the configuration. A problem stops the start. A warning does not: a process has to come
 * up again while a chain stands still or a node is away.
 */
export type Findings = { problems: readonly string[]; warnings: readonly string[] }

export function joinFindings(all: readonly Findings[]): Findings {
  return {
    problems: all.flatMap(({ problems }) => problems),
    warnings: all.flatMap(({ warnings }) => warnings),
  }
}

/** What a node says of itself: which chain it serves, and what time it is there. */
export type NodeView = { chain: string; headSeconds: number }

export type NodeCheck = {
  name: string
  urls: readonly string[]
  /** How the right chain calls itself. Without it, all nodes have to call it the same. */
  chain: string | undefined
  maxHeadAgeMs: number
  now: number
  ask(index: number): Promise<NodeView>
}

// Blocks may be stamped a little ahead of everyone's clock; further, and deadlines mean something else here.
const MAX_AHEAD_MS = 30_000

/** Asks every node by itself: the one that is only asked when others fail is the one that nobody looked at. */
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

/** Without path and query: that is where providers put their keys. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that is no URL'
}

function reasonOf(error: unknown): string {
  const { shortMessage } = (error ?? {}) as { shortMessage?: string }
  return shortMessage ?? (error instanceof Error ? error.message : String(error))
}
