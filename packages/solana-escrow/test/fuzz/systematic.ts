import type { AccountRole } from '@solana/kit'
import type { Call } from '../model/bank.ts'
import type { Universe } from './universe.ts'

type Account = Call['accounts'][number]

/** A call with each single change: of every account, pair, role, byte and length. */
export function createChanges(call: Call, { pool, programs }: Universe): Call[] {
  const { accounts, data } = call
  const withAccounts = (change: (account: Account, index: number) => Account): Call => ({
    accounts: accounts.map(change).map((account) => withoutWriting(account, programs)),
    data,
  })
  const replaced = accounts.flatMap((_, place) =>
    pool.map((address) =>
      withAccounts((account, index) => (index === place ? { ...account, address } : account)),
    ),
  )
  const pairs = accounts.flatMap((_, first) => accounts.map((__, second) => [first, second] as const))
  const doubled = pairs.map(([first, second]) =>
    withAccounts((account, index) => (index === first ? (accounts[second] ?? account) : account)),
  )
  const swapped = pairs.map(([first, second]) =>
    withAccounts((account, index) => {
      if (index === first) return accounts[second] ?? account
      return index === second ? (accounts[first] ?? account) : account
    }),
  )
  const roles = accounts.flatMap((_, place) =>
    [0, 1, 2, 3].map((role) =>
      withAccounts((account, index) =>
        index === place ? { ...account, role: role as AccountRole } : account,
      ),
    ),
  )
  const counts = accounts.flatMap((account, place) => [
    { accounts: accounts.toSpliced(place, 1), data },
    { accounts: accounts.toSpliced(place, 0, account), data },
  ])
  const bytes = Array.from(data).flatMap((byte, index) =>
    [1, 2, 0x80].map((bit) => ({ accounts, data: data.with(index, byte ^ bit) })),
  )
  const lengths = Array.from({ length: data.length + 2 }, (_, length) => {
    const changed = new Uint8Array(length)
    changed.set(data.subarray(0, length))
    return { accounts, data: changed }
  })
  return [...replaced, ...doubled, ...swapped, ...roles, ...counts, ...bytes, ...lengths]
}

function withoutWriting(account: Account, programs: ReadonlySet<string>): Account {
  return programs.has(account.address) ? { ...account, role: (account.role & 2) as AccountRole } : account
}
