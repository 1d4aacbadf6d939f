/**
 * Methods of a shaped chain that no public chain has: controls for tests, on the same port, in JSON-RPC. They
 * are neither metered nor limited. A reply arrives once the change is in effect.
 */
export type ShapeControls = {
  /**
   * Mines blocks at the chain's interval until its clock has advanced by this much; finality follows. From
   * then on the chain's clock is ahead of the machine's. At most 2,000 blocks: for longer times they are
   * further apart.
   */
  shape_advance: { params: [seconds: number]; result: ChainTime }
  /** Stops `safe` and `finalized` while heads advance, or resumes them. */
  shape_haltFinality: { params: []; result: true }
  shape_resumeFinality: { params: []; result: true }
  /** 1 is the preset, 3 is three times slower. The tags do not move until the new lag is reached. */
  shape_setFinalityLag: { params: [factor: number]; result: true }
  /**
   * 1 is the preset, 10 a spike. Applies on `op-stack` and `arbitrum` to transactions submitted from now on.
   */
  shape_setL1PriceFactor: { params: [factor: number]; result: true }
  /** Calls per second and client; null is the preset. */
  shape_setRateLimit: { params: [callsPerSecond: number | null]; result: true }
  /** How many blocks the second backend is behind; 0 acts as one backend; null is the preset. */
  shape_setBackendLag: { params: [blocks: number | null]; result: true }
  /** All current subscriptions stop receiving, without an error. Returns their number. New ones work. */
  shape_silenceSubscriptions: { params: []; result: number }
  shape_readMeter: { params: []; result: MeterRow[] }
  shape_resetMeter: { params: []; result: true }
}

export type ShapeControl = keyof ShapeControls

export type ChainTime = { blockNumber: number; timestamp: number }

/**
 * The counts of one client and method since the last reset. Notifications count as calls of
 * `eth_subscription`.
 */
export type MeterRow = {
  /** The request's `user-agent` header, or `?client=` of its URL for clients that cannot set a header. */
  client: string
  method: string
  calls: number
  /** Calls that the rate limit refused. They are not included in `calls`. */
  refused: number
  requestBytes: number
  replyBytes: number
  /** The same calls in the units of two public price lists. */
  alchemyUnits: number
  infuraCredits: number
}

/** Requests to this path bypass rate limit, lag and meter: for deployments and tests. */
export const DIRECT_PATH = '/direct'

/** Calls a control of a shaped chain. */
export async function controlShape<M extends ShapeControl>(
  rpcUrl: string,
  method: M,
  ...params: ShapeControls[M]['params']
): Promise<ShapeControls[M]['result']> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as {
    result: ShapeControls[M]['result']
    error?: { message: string }
  }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
