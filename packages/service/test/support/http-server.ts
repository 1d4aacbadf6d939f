import type { StatusReply } from '@geoswap/wire'
import { pino } from 'pino'
import { createApiKey } from '../../src/http/api-key.ts'
import { createKeyTable } from '../../src/http/key-table.ts'
import { createRateLimiter } from '../../src/http/rate-limit.ts'
import { createServer, type Handlers, type ServerDeps } from '../../src/http/server.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { createStatusStreams } from '../../src/stages/status/streams.ts'
import { createStatusReads } from '../../src/stages/status/wait.ts'
import type { Limits } from '../../src/store/api-keys.ts'
import { plainKey } from './keys.ts'

const unexpected = (name: string) => () => {
  throw new Error(`Unexpected call of ${name}`)
}

const refusingHandlers: Handlers = {
  chains: unexpected('chains'),
  tokens: unexpected('tokens'),
  capabilities: unexpected('capabilities'),
  quote: unexpected('quote'),
  delegation: unexpected('delegation'),
  buildGeoOp: unexpected('buildGeoOp'),
  buildSolanaTx: unexpected('buildSolanaTx'),
  submit: unexpected('submit'),
  submitSolana: unexpected('submitSolana'),
  history: unexpected('history'),
  x402: unexpected('x402'),
}

type Options = Partial<Omit<ServerDeps, 'handlers'>> & {
  handlers?: Partial<Handlers>
  limits?: Limits
  /** Settings of the key. */
  given?: Partial<typeof plainKey>
  swaps?: Map<string, StatusReply>
  /** Wallets that the operator froze. */
  frozen?: string[]
}

/** A server for tests: one account with one key, its own rate budget, and handlers that throw unless replaced. */
export async function createTestServer(options: Options = {}) {
  const { handlers, limits = {}, given = {}, swaps = new Map(), frozen = [], ...deps } = options
  const { id, key, hash } = createApiKey('test', given.kind)
  const keys = createKeyTable({
    findActiveKeys: async () => [{ id, accountId: 'acc_1', hash, ...plainKey, limits, ...given }],
    findFrozen: async () => frozen.map((wallet) => ({ wallet })),
    onError: unexpected('onError'),
  })
  await keys.refresh()
  const generous = { quote: 1e6, build: 1e6, submit: 1e6, delegation: 1e6, status: 1e6, other: 1e6 }
  const limiter = createRateLimiter({
    defaults: generous,
    leaseBudgets: async (leases) => leases.map(({ want, burst }) => ({ granted: want, tokens: burst })),
  })
  const statusReads = createStatusReads({
    readStatuses: async (wanted) =>
      wanted.map(({ accountId, swapId }) => (accountId === 'acc_1' ? swaps.get(swapId) : undefined)),
    findEnded: async () => [],
    onError: unexpected('onError'),
  })
  const statusStreams = createStatusStreams({
    readEvents: unexpected('readEvents'),
    findMoved: unexpected('findMoved'),
    onError: unexpected('onError'),
  })
  const app = await createServer({
    handlers: { ...refusingHandlers, ...handlers },
    statusReads,
    statusStreams,
    keys,
    limiter,
    ready: async () => ({ ok: true, checks: {} }),
    logger: pino({ level: 'silent' }),
    metrics: createMetrics({ defaults: false }),
    ...deps,
  })
  return { app, key, keyId: id, statusReads, headers: { 'x-api-key': key } }
}
