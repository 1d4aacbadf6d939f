import { every } from '../async/timing.ts'
import type { ConnectedChain } from '../chains/families.ts'
import { type ClosedToken, type Findings, joinFindings, reasonOf } from '../chains/findings.ts'
import { mapOwn } from '../isolate.ts'
import type { Logger } from '../observe/logger.ts'
import type { Chains } from './chains.ts'

const RETRY_MS = 5_000
// Strangers and third parties can change tokens and feeds at any time.
const LOOK_AGAIN_MS = 300_000

type Options = {
  logger: Logger
  /** Keys of this process with transactions on the chain that the database lacks. */
  findLost?(chain: ConnectedChain): Promise<string[]>
  /** Reads what this process has to know of a chain before it is served, and again from time to time. */
  prepare?(chain: ConnectedChain, closed: readonly ClosedToken[]): Promise<void>
}
type Look = { chain: ConnectedChain; findings: Findings; lost: readonly string[]; silence?: unknown }

/**
 * Opens the chains that are as configured. One that differs, or does not answer, keeps its own gate closed and is
 * verified again until it is right. The start fails if there is none to serve, or if the database is not that of the
 * keys.
 */
export async function openChains({ all }: Pick<Chains, 'all'>, options: Options): Promise<{ stop(): void }> {
  const { logger } = options
  const looks = await mapOwn(all, (chain) => look(chain, options))
  assertNothingLost(looks)
  const closed = looks.filter((each) => !isRight(each))
  if (closed.length === looks.length) throw new Error(`No chain can be served:\n- ${describe(closed)}`)
  const say = createTeller(logger)
  for (const each of looks) {
    each.chain.gate.isOpen = isRight(each)
    say(each)
  }
  const retry = every(RETRY_MS, async () => {
    const shut = all.filter(({ gate }) => !gate.isOpen)
    for (const again of await mapOwn(shut, (chain) => look(chain, options))) reopen(again, logger, say)
  })
  const again = every(LOOK_AGAIN_MS, async () => {
    const open = all.filter(({ gate }) => gate.isOpen)
    for (const each of await mapOwn(open, (chain) => lookAgain(chain, options))) say(each)
  })
  return {
    stop() {
      retry.stop()
      again.stop()
    },
  }
}

const NOTHING: Findings = { problems: [], warnings: [] }

async function look(chain: ConnectedChain, options: Options): Promise<Look> {
  try {
    const findings = await chain.verify()
    if (findings.problems.length > 0) return { chain, findings, lost: [] }
    const lost = (await options.findLost?.(chain)) ?? []
    await options.prepare?.(chain, findings.closed ?? [])
    return { chain, findings, lost }
  } catch (silence) {
    return { chain, findings: NOTHING, lost: [], silence }
  }
}

/** A served chain stays open: its swaps in flight need it. */
async function lookAgain(chain: ConnectedChain, { logger, prepare }: Options): Promise<Look> {
  return look(chain, prepare ? { logger, prepare } : { logger })
}

const isRight = ({ findings, silence }: Look) => silence === undefined && findings.problems.length === 0

function assertNothingLost(looks: readonly Look[]): void {
  const lost = looks.flatMap((each) => each.lost)
  if (lost.length === 0) return
  throw new Error(
    `This database lacks transactions of these keys: ${lost.join(', ')}. It was restored from a backup, or is new. ` +
      'Stop every process of the service and run `npm run -s service -- rebuild` (docs/operations/disaster.md).',
  )
}

/** It is too late to refuse the start: the chain stays closed, and each attempt logs the problem. */
function reopen(look: Look, logger: Logger, say: (look: Look) => void): void {
  const chain = look.chain.config.name
  if (look.silence !== undefined) return
  try {
    assertNothingLost([look])
  } catch (err) {
    logger.error({ err, chain }, 'chain is not served')
    return
  }
  say(look)
  if (!isRight(look)) return
  look.chain.gate.isOpen = true
  logger.info({ chain }, 'chain verified: served from now on')
}

/** Logs what a look found and the one before did not. */
function createTeller(logger: Logger) {
  const before = new Map<string, Findings>()
  return ({ chain: { config, gate }, findings, silence }: Look): void => {
    const chain = config.name
    if (silence !== undefined) {
      if (!gate.isOpen)
        logger.warn({ err: silence, chain }, 'chain does not answer: not served until it does')
      return
    }
    const { problems, warnings, closed = [] } = joinFindings([before.get(chain) ?? NOTHING])
    before.set(chain, findings)
    for (const problem of findings.problems.filter((text) => !problems.includes(text)))
      logger.error(
        { chain, problem },
        gate.isOpen ? 'chain differs' : 'chain is not as configured: not served',
      )
    for (const warning of findings.warnings.filter((text) => !warnings.includes(text)))
      logger.warn({ warning }, 'chain verification warning')
    const isIn = (tokens: readonly ClosedToken[], { token, why }: ClosedToken) =>
      tokens.some((each) => each.token === token && each.why === why)
    const now = findings.closed ?? []
    for (const each of now.filter((one) => !isIn(closed, one)))
      logger.error({ chain, ...each }, 'token is closed: no new swaps of it')
    for (const { token } of closed.filter(({ token }) => !now.some((each) => each.token === token)))
      logger.info({ chain, token }, 'token is open again')
  }
}

function describe(closed: readonly Look[]): string {
  return closed
    .flatMap(({ chain, findings, silence }) =>
      silence === undefined ? findings.problems : [`${chain.config.name}: ${reasonOf(silence)}`],
    )
    .join('\n- ')
}
