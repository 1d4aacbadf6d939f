import type { Block, DepositTransfer, OriginWays } from '../../chains/chain.ts'
import { mapIsolated } from '../../isolate.ts'
import type { Screening } from '../../screen/denials.ts'
import type { Party } from '../../screen/screening.ts'
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

type Known = Deposited & {
  verdict: DepositVerdict
  /** It waits for its decision, or is being decided. */
  isOpen: boolean
  transfers: Map<string, DepositTransfer>
}

/**
 * Screens the parties of deposits, and those who sent them, apart from the look at the addresses: a silent source holds
 * up no other deposit.
 */
export function createDepositScreening({ ways, screening, onWaiting, onDecided }: Deps): DepositScreening {
  const known = new Map<string, Known>()
  const waiting = new Set<string>()

  async function findTransfers({ swap, received, since, at, transfers }: Known): Promise<void> {
    const add = async (from: bigint | undefined) => {
      for (const each of await ways.findDepositTransfers(swap.op, { since: from, at }))
        transfers.set(each.id, each)
    }
    await add(since)
    if (sumOf(transfers) <= received) return
    // A reorg undid one that is known.
    transfers.clear()
    await add(undefined)
  }

  async function decideOne(entry: Known): Promise<void> {
    const { swap } = entry
    await findTransfers(entry)
    const screen = (parties: readonly Party[]) =>
      screening.ofSwap(parties, { point: 'deposit', swapId: swap.id })
    const ofTerms = await screen(partiesOf(swap.op))
    if (ofTerms !== 'allow') {
      entry.verdict = ofTerms === 'deny' ? { kind: 'deny' } : WAIT
      return
    }
    entry.verdict = await judgeSenders(swap.op, entry, screening.isStrict, (address) =>
      screen([{ address, chainId: swap.op.originChain, role: 'depositor' }]),
    )
  }

  return {
    verdictOf(deposited) {
      const { swap, received } = deposited
      const entry = known.get(swap.id)
      const isSame = entry?.received === received
      if (isSame && (entry.isOpen || entry.verdict.kind !== 'wait')) return entry.verdict
      // An amount that did not change came before the last look.
      const since = isSame ? entry.since : deposited.since
      const transfers = entry?.transfers ?? new Map<string, DepositTransfer>()
      known.delete(swap.id)
      known.set(swap.id, { ...deposited, since, verdict: WAIT, isOpen: true, transfers })
      const [oldest] = known.keys()
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
      waiting.add(swap.id)
      onWaiting()
      return WAIT
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

const sumOf = (transfers: ReadonlyMap<string, DepositTransfer>) =>
  [...transfers.values()].reduce((sum, { amount }) => sum + amount, 0n)

type Sent = { received: bigint; transfers: ReadonlyMap<string, DepositTransfer> }
type VerdictOf = (address: string) => Promise<'allow' | 'deny' | 'unknown'>

// More senders than this for one deposit are strangers who want to hold it up.
const MAX_SENDERS = 20

/**
 * Accepts a deposit if senders who are served sent the whole input, whoever sent more: anyone can send dust to the
 * address, and what is more than the input goes back to the wallet. Those who sent most are asked first.
 */
export async function judgeSenders(
  { inputAmount }: Pick<Op, 'inputAmount'>,
  { received, transfers }: Sent,
  isStrict: boolean,
  verdictOf: VerdictOf,
): Promise<DepositVerdict> {
  const sums = new Map<string, bigint>()
  for (const { from, amount } of transfers.values()) sums.set(from, (sums.get(from) ?? 0n) + amount)
  const senders = [...sums].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, MAX_SENDERS)
  const allowed: string[] = []
  // The rest, without a known sender, counts as sent by somebody unknown.
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
  return isStrict ? WAIT : { kind: 'allow', senders: allowed }
}
