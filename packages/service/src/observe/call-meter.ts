/** The calls of one process to one node. */
type NodeCalls = {
  chain: string
  node: string
  byMethod: Map<string, number>
  failed: number
  calledAt: number
  failingSince: number | undefined
}

export type CallMeter = ReturnType<typeof createCallMeter>

// A node that fails for less is not lost: the call is repeated.
const FAILING_MS = 10_000
// Nothing is known about a node that was not called for longer.
const KNOWN_MS = 300_000
const BUCKET_MS = 5_000
const BUCKETS = 12

/** Counts the calls of a process to its nodes, and notes which of them answer. */
export function createCallMeter(now = () => performance.now()) {
  const nodes: NodeCalls[] = []
  const minutes = new Map<string, Map<number, number>>()

  function countMinute(chain: string): void {
    const bucket = Math.floor(now() / BUCKET_MS)
    const counts = minutes.get(chain) ?? new Map<number, number>()
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
    for (const old of counts.keys()) if (old <= bucket - BUCKETS) counts.delete(old)
    minutes.set(chain, counts)
  }
  function open(chain: string, node: string): NodeCalls {
    const calls = {
      chain,
      node,
      byMethod: new Map(),
      failed: 0,
      calledAt: -KNOWN_MS,
      failingSince: undefined,
    }
    nodes.push(calls)
    return calls
  }

  return {
    nodes: (): readonly NodeCalls[] => nodes,
    /** Undefined for a node that was not called lately. */
    isUp({ calledAt, failingSince }: NodeCalls): boolean | undefined {
      if (now() - calledAt >= KNOWN_MS) return undefined
      return failingSince === undefined || now() - failingSince < FAILING_MS
    },
    /** Calls of the last minute to all nodes of a chain. */
    lastMinute(chain: string): number {
      const oldest = Math.floor(now() / BUCKET_MS) - BUCKETS
      const counts = [...(minutes.get(chain) ?? [])].filter(([bucket]) => bucket > oldest)
      return counts.reduce((sum, [, count]) => sum + count, 0)
    },
    /** Returns a watch for each node of a chain, in the order of the URLs. */
    watch(chain: string, urls: readonly string[]) {
      // By their places: metrics have no key, and the addresses of nodes are nobody's business.
      return urls.map((_, index) => {
        const calls = open(chain, String(index + 1))
        return {
          called(method: string) {
            calls.byMethod.set(method, (calls.byMethod.get(method) ?? 0) + 1)
            calls.calledAt = now()
            countMinute(chain)
          },
          answered() {
            calls.failingSince = undefined
          },
          failed() {
            calls.failed += 1
            calls.failingSince ??= now()
          },
        }
      })
    },
  }
}
