import type { Client } from '@geoswap/sdk'
import type { Side } from '../catalog.ts'
import { type Context, connect } from '../context.ts'
import { CliError } from '../errors.ts'
import { createInterrupts } from '../interrupts.ts'
import { type Attempt, type IsAttended, isOwnerAlive, type Journal } from '../store/journal.ts'
import type { ChosenWallet } from '../wallets.ts'
import type { Confirmations } from './confirmations.ts'
import type { Rules } from './rules.ts'
import type { Spending } from './spending.ts'

/** What all sessions of a server share. */
export type Desk = {
  context: Context
  rules: Rules
  /** Those that may pay; of several of one family the first is the usual one. */
  wallets: readonly ChosenWallet[]
  isReadOnly: boolean
  spending: Spending
  confirmations: Confirmations
  /** Swaps that the service may not have taken yet: the server waits a moment for them before it ends. */
  submitting: Set<Promise<unknown>>
  /** Attempts that a call of this server is at, or that go on after it. */
  running: Set<string>
  log(line: string): void
}

/** What one call of a tool gets from its client. */
export type Call = {
  signal: AbortSignal
  report(doing: string): void
  /** Absent when the client cannot ask its user. */
  ask?: ((question: string) => Promise<boolean>) | undefined
}

export type Opened = {
  context: Context
  client: Client
  /** Fulfilled when the service has said what became of the submission. */
  submitted: Promise<void>
}

/** The modules of the command line, for one call: nothing is printed and nobody is asked at a terminal. */
export function openCall({ context }: Desk, call: Call): Opened {
  const { settings, terminal } = context
  const seen: Context['seen'] = {}
  const interrupts = createInterrupts(call.report)
  // What was submitted goes on, whoever has lost interest.
  const leave = () => isBeforeSubmission(seen.attempt) && interrupts.press()
  call.signal.addEventListener('abort', leave, { once: true })
  const { journal, submitted } = watchSubmission(context.journal)
  const quiet = { ...terminal, json: true, isInteractive: false, note: call.report, progress: call.report }
  const ofCall: Context = { ...context, settings, journal, terminal: quiet, interrupts, seen }
  return { context: ofCall, client: connect(ofCall), submitted }
}

/** A server lives on after a call that lost its swap: what it was at then is left, and can be gone on with. */
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
  { wallets }: Pick<Desk, 'wallets'>,
  { chain }: Side,
  named?: string,
): ChosenWallet {
  const fitting = wallets.filter(({ family }) => family === chain.family)
  const found = named === undefined ? fitting[0] : fitting.find(({ name }) => name === named)
  if (found) return found
  const names = fitting.map(({ name }) => name).join(', ') || 'none'
  throw new CliError('NO_WALLET', `There is no wallet ${named ?? 'here'} that can pay on ${chain.name}.`, {
    advice: `There are: ${names}. Only who runs the server can add one: --wallets.`,
  })
}
