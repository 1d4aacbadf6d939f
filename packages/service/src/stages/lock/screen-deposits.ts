import type { Block, DepositTransfer, DepositTransfers, OriginWays } from '../../chains/chain.ts'
import { mapIsolated } from '../../isolate.ts'
import type { Screening } from '../../screen/denials.ts'
import type { Party } from '../../screen/screening.ts'
import { largest } from '../../swap/amount.ts'
import { setNewest } from '../../swap/group.ts'
import { partiesOf } from '../../swap/parties.ts'
import type { Op, Swap } from '../../swap/swap.ts'

/** `senders`: those who sent what is accepted. */
export type DepositVerdict =
  | { kind: 'allow'; senders: readonly string[] }
  | { kind: 'deny' }
  | { kind: 'wait' }

export type Deposited = { swap: Swap; received: bigint; since: bigint | undefined; at: Block }

export type DepositScreening = {
  /** From memory. Asks later about a deposit that is new, or that could not be decided. */
  verdictOf(deposited: Deposited): DepositVerdict
  /** The address of this swap does not have its input. */
  forget(swapId: string): void
  /** Decides about what waits. */
  decide(faults: unknown[]): Promise<void>
}

type Deps = {
  ways: Pick<OriginWays, 'findDepositTransfers'>
  screening: Pick<Screening, 'ofSwap' | 'isStrict'>
  /** Called when something waits, and when something was decided. */
  onWaiting(): void
  onDecided(): void
}

const WAIT = { kind: 'wait' } as const
// A swap waits for its deposit for a quarter of an hour, unless it is configured longer.
const MAX_KNOWN = 5_000
const DECIDED_AT_ONCE = 20

/** `since`: the block up to which its transfers are known; undefined if none are. */
type Known = Deposited & {
  verdict: DepositVerdict
  /** It waits for its decision, or is being decided. */
  isOpen: boolean
  transfers: Map<string, DepositTransfer>
  /** Whether the transfers are all that arrived: nodes had every block that was asked for. */
  isWhole: boolean
  /** Whether every block that nodes still have was searched: from then on later ones are enough. */
  isSearched?: boolean
}

/**
 * Screens the parties and the senders of deposits, apart from the task that reads their addresses: a silent source
 * delays no other deposit.
 */
export function createDepositScreening({ ways, screening, onWaiting, onDecided }: Deps): DepositScreening {
  const known = new Map<string, Known>()
  const waiting = new Set<string>()

  async function decideOne(entry: Known): Promise<void> {
    const { received, at } = entry
    const verdict = await judgeDeposit({ ways, screening }, entry, { received, at })
    // A refusal counts for the amount that was judged: what came since may be from senders who are served.
    if (verdict.kind === 'allow' || entry.received === received) entry.verdict = verdict
  }

  /** Undefined for a deposit that is new or has shrunk, or whose swap has changed since. */
  function findKnown({ swap, received }: Deposited): Known | undefined {
    const entry = known.get(swap.id)
    return entry && received >= entry.received && swap.version === entry.swap.version ? entry : undefined
  }

  function queue(entry: Known): DepositVerdict {
    const { id } = entry.swap
    entry.verdict = WAIT
    entry.isOpen = true
    setNewest(known, id, entry, MAX_KNOWN)
    waiting.add(id)
    onWaiting()
    return WAIT
  }

  return {
    verdictOf(deposited) {
      const { swap, received, since, at } = deposited
      const entry = findKnown(deposited)
      if (!entry) {
        // A part was seen before, perhaps before `since`: the search goes back to the quote.
        const from = swap.deposit?.received === undefined ? since : undefined
        const transfers = new Map<string, DepositTransfer>()
        return queue({ ...deposited, since: from, verdict: WAIT, isOpen: true, transfers, isWhole: true })
      }
      const isSame = received === entry.received
      Object.assign(entry, { received, at })
      const isDecided = entry.verdict.kind === 'allow' || (isSame && entry.verdict.kind === 'deny')
      return entry.isOpen || isDecided ? entry.verdict : queue(entry)
    },
    forget(swapId) {
      known.delete(swapId)
    },
    async decide(faults) {
      const ids = [...waiting].slice(0, DECIDED_AT_ONCE)
      for (const id of ids) waiting.delete(id)
      const entries = ids.flatMap((id) => known.get(id) ?? [])
      await mapIsolated(faults, entries, ({ swap }) => ({ step: 'screen deposit', id: swap.id }), decideOne)
      for (const entry of entries) entry.isOpen = false
      if (entries.some(({ verdict }) => verdict.kind !== 'wait')) onDecided()
      if (waiting.size > 0) onWaiting()
    },
  }
}

type Reading = Pick<Deposited, 'received' | 'at'>
type Sources = Pick<Deps, 'ways' | 'screening'>

async function findTransfers(ways: Deps['ways'], entry: Known, { received, at }: Reading): Promise<void> {
  const { swap, transfers, since } = entry
  const read = (from: bigint | undefined) => ways.findDepositTransfers(swap.op, { since: from, at })
  const add = (found: DepositTransfers) => {
    for (const each of found.transfers) transfers.set(each.id, each)
  }
  const recent = await read(since)
  add(recent)
  entry.isWhole &&= recent.isWhole
  const sum = sumOf(transfers)
  const isExplained = sum === received || (sum < received && entry.isSearched)
  if (!isExplained) {
    const all = since === undefined ? recent : await read(undefined)
    add(all)
    entry.isWhole ||= all.isWhole
    if (sumOf(transfers) > received) {
      // A reorg undid one that is known.
      transfers.clear()
      add(all)
      entry.isWhole = all.isWhole
    }
    entry.isSearched = true
  }
  entry.since = at.number
}

async function judgeDeposit(
  { ways, screening }: Sources,
  entry: Known,
  reading: Reading,
): Promise<DepositVerdict> {
  const { swap, transfers } = entry
  await findTransfers(ways, entry, reading)
  const screen = (parties: readonly Party[]) =>
    screening.ofSwap(parties, { point: 'deposit', swapId: swap.id })
  const ofTerms = await screen(partiesOf(swap.op))
  if (ofTerms !== 'allow') return ofTerms === 'deny' ? { kind: 'deny' } : WAIT
  const mustKnow = screening.isStrict || !entry.isWhole
  return judgeSenders(swap.op, { received: reading.received, transfers }, mustKnow, (address) =>
    screen([{ address, chainId: swap.op.originChain, role: 'depositor' }]),
  )
}

type PaymentSources = {
  ways: Pick<OriginWays, 'readDeposits' | 'findDepositTransfers' | 'findTakenTransfers'>
  screening: Pick<Screening, 'ofSwap' | 'isStrict'>
}

/**
 * Judges those who sent the input to the address of a payment before its lock: the lock takes it, whatever became of
 * the payment.
 */
export async function judgeSent(
  { ways, screening }: PaymentSources,
  swap: Swap,
  at: Block,
): Promise<DepositVerdict> {
  const { op } = swap
  const held = await ways.readDeposits([op], [op.inputToken], at)
  const received = held.get(op.hash)?.[0]?.amount ?? 0n
  if (received < op.inputAmount) return { kind: 'allow', senders: [] }
  const found = await ways.findDepositTransfers(op, { since: undefined, at })
  const sent = { received, transfers: byId(found.transfers) }
  return judgeSenders(
    op,
    sent,
    screening.isStrict || !found.isWhole,
    senderVerdict(screening, swap, 'deposit'),
  )
}

/**
 * Judges those whose money the lock of a payment took: it may have come after the check before the lock. Waits for
 * nodes that do not tell of all.
 */
export async function judgeTaken({ ways, screening }: PaymentSources, swap: Swap): Promise<DepositVerdict> {
  const { op, originTxHash } = swap
  if (originTxHash === undefined) return WAIT
  const transfers = byId(await ways.findTakenTransfers(op, originTxHash))
  const received = largest(sumOf(transfers), op.inputAmount)
  return judgeSenders(op, { received, transfers }, true, senderVerdict(screening, swap, 'delivery'))
}

const byId = (transfers: readonly DepositTransfer[]) => new Map(transfers.map((each) => [each.id, each]))

/** Screens the sender of a payment. The wallet itself is judged with the terms. */
const senderVerdict =
  (screening: PaymentSources['screening'], { id, op }: Swap, point: 'deposit' | 'delivery') =>
  async (address: string): Promise<'allow' | 'deny' | 'unknown'> => {
    if (address === op.wallet) return 'allow'
    const party = { address, chainId: op.originChain, role: 'depositor' } as const
    return screening.ofSwap([party], { point, swapId: id })
  }

const sumOf = (transfers: ReadonlyMap<string, DepositTransfer>) =>
  [...transfers.values()].reduce((sum, { amount }) => sum + amount, 0n)

type Received = { received: bigint; transfers: ReadonlyMap<string, DepositTransfer> }
type VerdictOf = (address: string) => Promise<'allow' | 'deny' | 'unknown'>

// More senders than this for one deposit are strangers who want to hold it up.
const MAX_SENDERS = 20

/**
 * Accepts a deposit if senders who are served sent the whole input, whoever sent more: anyone can send dust to the
 * address, and what is more than the input goes back to the wallet. Those who sent most are asked first.
 */
export async function judgeSenders(
  { inputAmount }: Pick<Op, 'inputAmount'>,
  { received, transfers }: Received,
  mustKnow: boolean,
  verdictOf: VerdictOf,
): Promise<DepositVerdict> {
  const sums = new Map<string, bigint>()
  for (const { from, amount } of transfers.values()) sums.set(from, (sums.get(from) ?? 0n) + amount)
  const senders = [...sums].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, MAX_SENDERS)
  const allowed: string[] = []
  // An amount without a known sender counts as sent by an unknown one.
  let [sum, denied] = [0n, 0n]
  for (const [address, amount] of senders) {
    const verdict = await verdictOf(address)
    if (verdict === 'deny') denied += amount
    if (verdict !== 'allow') continue
    allowed.push(address)
    sum += amount
    if (sum >= inputAmount) return { kind: 'allow', senders: allowed }
  }
  if (received - denied < inputAmount) return { kind: 'deny' }
  return mustKnow ? WAIT : { kind: 'allow', senders: allowed }
}
