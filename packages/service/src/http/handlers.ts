import type { RateClass } from '@geoswap/wire'
import type { BuildPort } from '../flow/build/route.ts'
import type { CatalogPort } from '../flow/catalog/route.ts'
import type { HistoryPort } from '../flow/history/route.ts'
import type { QuotePort } from '../flow/quote/route.ts'
import type { SubmitPort } from '../flow/submit/route.ts'
import type { ActiveKey } from '../store/api-keys.ts'

type KeyRules = ActiveKey['rules']

/** The caller. The account owns tokens and swaps; the key is for logs, and may have rules of its own. */
type Caller = { accountId: string; keyId: string; kind?: ActiveKey['kind']; rules: KeyRules }

/** The flow's interface for HTTP. Every function may throw a ServiceError. */
export type Handlers = CatalogPort & QuotePort & BuildPort & SubmitPort & HistoryPort

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every call under /swap/ before its handler runs. */
    caller: Caller
    /** The swap that this call created or found. */
    swapId?: string
  }
  interface FastifyContextConfig {
    /** Marks a call under /swap/: it needs a key and counts against this limit. */
    rateClass?: RateClass
  }
}
