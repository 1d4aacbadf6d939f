export type Balance = { address: string; amount: bigint }

type Seen = { amount: bigint; readings: number; readAt: number }

// A mismatch counts once three readings show it, and a node may list a transaction late.
const READ_AGAIN = 4
// Transactions that cancel each other out leave no trace in a balance.
const QUIET_MS = 60_000
// The ledger moves on while other accounts change: its ranges overlap by more than this.
const PASSED_MS = 20_000

/**
 * Decides whose history to read, one call per account: of those whose balance has changed in the last readings, and of
 * all others at times. None is due while no balance changes.
 */
export function createChangedAccounts(now = () => performance.now()) {
  const seen = new Map<string, Seen>()

  function note({ address, amount }: Balance): Seen {
    const before = seen.get(address) ?? { amount, readings: 0, readAt: Number.NEGATIVE_INFINITY }
    const readings = before.amount === amount ? before.readings + 1 : 1
    const noted = { amount, readings, readAt: before.readAt }
    seen.set(address, noted)
    return noted
  }

  return {
    /** Notes one reading of all balances. Returns the accounts whose history is due. */
    findDue(balances: readonly Balance[]): string[] {
      const all = balances.map((balance) => ({ address: balance.address, ...note(balance) }))
      const isChanged = ({ readings }: Seen) => readings <= READ_AGAIN
      const maxAgeMs = all.some(isChanged) ? PASSED_MS : QUIET_MS
      const due = all.filter((each) => isChanged(each) || now() - each.readAt >= maxAgeMs)
      return due.map(({ address }) => address)
    },
    /** Notes that these histories were read. */
    markRead(addresses: readonly string[]): void {
      for (const address of addresses) {
        const known = seen.get(address)
        if (known) seen.set(address, { ...known, readAt: now() })
      }
    },
  }
}
