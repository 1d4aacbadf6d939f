import { every } from '../async/timing.ts'
import { type Findings, reasonOf } from '../chains/findings.ts'
import { mapOwn } from '../isolate.ts'
import type { Logger } from '../observe/logger.ts'
import type { Chains } from './chains.ts'
import type { ConnectedChain } from './connected-chain.ts'

const RETRY_MS = 5_000

type Options = {
  logger: Logger
  /** Keys of this process with transactions on the chain that the database lacks. */
  findLost?(chain: ConnectedChain): Promise<string[]>
  /** Reads what this process has to know of a chain before it is served. */
  prepare?(chain: ConnectedChain): Promise<void>
}
type Look = { chain: ConnectedChain; findings: Findings; lost: readonly string[]; silence?: unknown }

/**
 * Refuses to start on chains that differ from the configuration, and reports all problems at once. A chain that does
 * not answer only keeps its own gate closed: it is verified again until it answers.
 */
export async function openChains({ all }: Pick<Chains, 'all'>, options: Options): Promise<{ stop(): void }> {
  const { logger } = options
  const looks = await mapOwn(all, (chain) => look(chain, options))
  assertRight(looks)
  const silent = looks.filter(({ silence }) => silence !== undefined)
  if (silent.length === looks.length)
    throw new Error(`No chain answers:\n- ${silent.map(describe).join('\n- ')}`)
  for (const { findings } of looks) warn(logger, findings)
  for (const { chain, silence } of silent) {
    chain.gate.isOpen = false
    logger.warn({ err: silence, chain: chain.config.name }, 'chain does not answer: not served until it does')
  }
  return every(RETRY_MS, async () => {
    const closed = all.filter(({ gate }) => !gate.isOpen)
    for (const again of await mapOwn(closed, (chain) => look(chain, options))) reopen(again, logger)
  })
}

async function look(chain: ConnectedChain, { findLost, prepare }: Options): Promise<Look> {
  const nothing = { findings: { problems: [], warnings: [] }, lost: [] }
  try {
    const findings = await chain.verify()
    if (findings.problems.length > 0) return { chain, findings, lost: [] }
    const lost = (await findLost?.(chain)) ?? []
    await prepare?.(chain)
    return { chain, findings, lost }
  } catch (silence) {
    return { chain, ...nothing, silence }
  }
}

function assertRight(looks: readonly Look[]): void {
  const problems = looks.flatMap(({ findings }) => findings.problems)
  if (problems.length > 0) throw new Error(`The chains are not as configured:\n- ${problems.join('\n- ')}`)
  const lost = looks.flatMap((each) => each.lost)
  if (lost.length === 0) return
  throw new Error(
    `This database lacks transactions of these keys: ${lost.join(', ')}. It was restored from a backup, or is new. ` +
      'Stop every process of the service and run `npm run -s service -- rebuild` (docs/operations/disaster.md).',
  )
}

/** It is too late to refuse the start: the chain stays closed, and each attempt logs the problem. */
function reopen(look: Look, logger: Logger): void {
  const chain = look.chain.config.name
  if (look.silence !== undefined) return
  try {
    assertRight([look])
  } catch (err) {
    logger.error({ err, chain }, 'chain is not served')
    return
  }
  warn(logger, look.findings)
  look.chain.gate.isOpen = true
  logger.info({ chain }, 'chain verified: served from now on')
}

function warn(logger: Logger, { warnings }: Findings): void {
  for (const warning of warnings) logger.warn({ warning }, 'chain verification warning')
}

function describe({ chain, silence }: Look): string {
  return `${chain.config.name}: ${reasonOf(silence)}`
}
