import type { ChainsReply, Client } from '@geoswap/sdk'
import { withKnownFamilies } from '@geoswap/sdk/families'
import type { Side } from '@geoswap/wallet/catalog'
import { type Context, connect, createInterrupts } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { type ReadyOrder, resolveOrder } from '@geoswap/wallet/order'
import { type Attempt, type IsAttended, isOwnerAlive, type Journal } from '@geoswap/wallet/store/journal'
import type { ChosenWallet } from '@geoswap/wallet/wallets'
import { isReply } from '@geoswap/wire/is-reply'
import type { Confirmations } from './confirmations.ts'
import type { Rules } from './rules.ts'
import type { OrderInput } from './schemas.ts'
import type { Spending } from './spending.ts'

/**
 * A fetch that passes on replies of the form that the service promises, and nothing else of a success: what a tool
 * returns is read by a model.
 */
function createCheckedFetch(ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await ask(input, init)
    if (!response.ok) return response
    const reply = withKnownFamilies(parse(await response.text()) as ChainsReply)
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    const isRight = isReply({ method: init?.method ?? 'GET', path: pathname }, reply)
    const { status, headers } = response
    return isRight
      ? new Response(JSON.stringify(reply), { status, headers })
      : new Response('', { status: 200 })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Unheard = Map<string, { result: object; until: number }>

/** State shared by all sessions of a server. */
export type McpContext = {
  context: Context
  rules: Rules
  /** Wallets that may pay; the first of each family is the default. */
  wallets: readonly ChosenWallet[]
  isReadOnly: boolean
  spending: Spending
  confirmations: Confirmations
  /** Swaps that the service may not have accepted yet: the server waits briefly for them before it exits. */
  submitting: Set<Promise<unknown>>
  /** Attempts that a call of this server runs, or that continue after the call. */
  running: Set<string>
  /** Answers that were paid after their call had ended, by the key of the request: a repeat gets them. */
  unheard: Unheard
  log(line: string): void
}

/** The request context of one tool call. */
export type Call = {
  signal: AbortSignal
  report(doing: string): void
  /** Absent if the client cannot ask its user. */
  ask?: ((question: string) => Promise<boolean>) | undefined
}

export type Opened = {
  context: Context
  client: Client
  /** Resolves when the outcome of the submission is known. */
  submitted: Promise<void>
}

/** The modules of the CLI for one call: without output or prompts at a terminal. */
export function openCall({ context }: McpContext, call: Call): Opened {
  const { settings, terminal } = context
  const seen: Context['seen'] = {}
  const interrupts = createInterrupts(call.report)
  // A submitted swap continues, and a payment that was sent is answered, even if the client cancels.
  const leave = () => isBeforeSubmission(seen.attempt) && !seen.isPaying && interrupts.press()
  call.signal.addEventListener('abort', leave, { once: true })
  const { journal, submitted } = watchSubmission(context.journal)
  const quiet = { ...terminal, json: true, isInteractive: false, note: call.report, progress: call.report }
  const ofCall: Context = { ...context, settings, journal, terminal: quiet, interrupts, seen }
  return { context: ofCall, client: connect(ofCall, createCheckedFetch), submitted }
}

/**
 * The server outlives a call that lost its swap: such an attempt is no longer followed and can be continued.
 */
export function attendedBy(running: ReadonlySet<string>): IsAttended {
  return (attempt) => {
    const isLeft =
      attempt.owner.pid === process.pid && !isBeforeSubmission(attempt) && !running.has(attempt.id)
    return isOwnerAlive(attempt) && !isLeft
  }
}

function watchSubmission(journal: Journal): { journal: Journal; submitted: Promise<void> } {
  let tell = () => {}
  const submitted = new Promise<void>((resolve) => {
    tell = resolve
  })
  const record: Journal['record'] = (attempt, change) => {
    const next = journal.record(attempt, change)
    if (next.stage === 'submitted' || next.stage === 'ended') tell()
    return next
  }
  return { journal: { ...journal, record }, submitted }
}

function isBeforeSubmission(attempt: Attempt | undefined): boolean {
  return attempt === undefined || attempt.stage === 'preparing' || attempt.stage === 'built'
}

export function choosePayer(
  { wallets }: Pick<McpContext, 'wallets'>,
  { chain }: { chain: Pick<Side['chain'], 'family' | 'name'> },
  named?: string,
): ChosenWallet {
  const fitting = wallets.filter(({ family }) => family === chain.family)
  const found = named === undefined ? fitting[0] : fitting.find(({ name }) => name === named)
  if (found) return found
  throw noWallet(fitting, `No wallet ${named ?? 'of this server'} can pay on ${chain.name}.`)
}

/** For a payment that may be made on any chain: the named wallets, else the first one of each family. */
export function choosePayers({ wallets }: Pick<McpContext, 'wallets'>, named?: string): ChosenWallet[] {
  const isFirst = (wallet: ChosenWallet) => wallets.find(({ family }) => family === wallet.family) === wallet
  const found = wallets.filter((each) => (named === undefined ? isFirst(each) : each.name === named))
  if (found.length > 0) return found
  throw noWallet(wallets, `No wallet ${named ?? 'of this server'} can pay.`)
}

function noWallet(fitting: readonly ChosenWallet[], message: string): UserError {
  const names = fitting.map(({ name }) => name).join(', ') || 'none'
  return new UserError('NO_WALLET', message, {
    advice: `There are: ${names}. Only the operator of the server can add one: --wallets.`,
  })
}

/** The order of a tool's input, paid by a wallet of the server. */
export function readOrder(
  mcp: Pick<McpContext, 'wallets'>,
  { context, client }: Opened,
  input: OrderInput,
): Promise<ReadyOrder> {
  const words = {
    ...input,
    slippage: input.slippageBps?.toString(),
    maxEta: input.maxEtaSeconds?.toString(),
  }
  return resolveOrder(context, client, words, async (side) => choosePayer(mcp, side, input.wallet))
}
