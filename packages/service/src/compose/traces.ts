import type { Role } from '../config/load.ts'
import type { Config } from '../config.ts'
import type { Logger } from '../observe/logger.ts'
import { createSpans, parseHeaders, type Spans } from '../observe/otlp.ts'

/** Undefined without a configured collector. */
export function openSpans({ tracing }: Config, role: Role, logger: Logger): Spans | undefined {
  const { endpoint, headers, service } = tracing
  if (!endpoint) return undefined
  return createSpans({
    endpoint,
    role,
    service,
    headers: parseHeaders(headers?.reveal() ?? ''),
    onFault: (err) => logger.warn({ err }, 'exporting spans failed'),
  })
}
