/**
 * Methods of a shaped chain that no public chain has: test equipment, on the same port, in JSON-RPC. They are neither
 * metered nor limited. The answer of one that changes something comes when the change holds.
 */
export type ShapeControls = {
  /**
   * Mines blocks at the chain's interval until its clock is this much further; finality follows. From then on the
   * clock of the chain is ahead of the machine's. At most 2,000 blocks: beyond that they are further apart.
   */
  shape_advance: { params: [seconds: number]; result: ChainTime }
  /** Stops `safe` and `finalized` where they are, while heads go on; or lets them go on. */
  shape_haltFinality: { params: []; result: true }
  shape_resumeFinality: { params: []; result: true }
  /** 1 is the preset, 3 is three times slower. The tags stay where they are until the new lag is reached. */
  shape_setFinalityLag: { params: [factor: number]; result: true }
  /** 1 is the preset, 10 a spike. Bears on `op-stack` and `arbitrum`, on transactions submitted from now on. */
  shape_setL1PriceFactor: { params: [factor: number]; result: true }
  /** Calls per second and client; null is the preset. */
  shape_setRateLimit: { params: [callsPerSecond: number | null]; result: true }
  /** By how many blocks the second backend is behind; 0 is as if there were one; null is the preset. */
  shape_setBackendLag: { params: [blocks: number | null]; result: true }
  /** All subscriptions that exist now receive nothing any more, without an error. Answers how many. New ones work. */
  shape_silenceSubscriptions: { params: []; result: number }
  shape_readMeter: { params: []; result: MeterRow[] }
  shape_resetMeter: { params: []; result: true }
}

export type ShapeControl = keyof ShapeControls

export type ChainTime = { blockNumber: number; timestamp: number }

/** One client and method since the last reset. Notifications count as calls of `eth_subscription`. */
export type MeterRow = {
  /** The header `user-agent` of the request, or `?client=` of its address where a client cannot set a header. */
  client: string
  method: string
  calls: number
  /** Calls that the rate limit refused. They are not among `calls`. */
  refused: number
  requestBytes: number
  replyBytes: number
  /** The same calls in the units of two public price lists. */
  alchemyUnits: number
  infuraCredits: number
}

/** Requests to this path meet neither rate limit nor lag nor meter: deployments and tests use it. */
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
