import { decodeInputAccount } from '@geoswap/solana-escrow'
import { createRecent } from '../../async/recent.ts'
import type { Block, LockRef } from '../chain.ts'
import type { Custody, CustodyChain, CustodyEvent, Held } from '../custody.ts'
import { readAccountsAt, toTokenAccountAddress } from './accounts.ts'
import { type Balance, createChangedAccounts } from './changed-accounts.ts'
import { type Books, eventsOf, type VaultAccount } from './custody-events.ts'
import { isNative } from './mint.ts'
import type { SolanaParts } from './parts.ts'
import { ownFeePayers } from './settings.ts'
import { type RawAccount, toTokenAccount } from './token-layout.ts'
import { readTransaction } from './transaction.ts'
import { readHistory } from './vault-history.ts'

// Overlap with the next range, about a minute, for transactions that a node indexes late.
const OVERLAP_SLOTS = 150n
const MAX_KNOWN = 5_000

/**
 * The balances of a Solana chain's escrow accounts and vault, and every transaction that changed them. Each of those
 * names the vault or a fee payer: a fee payer pays for every input, and gets the rent back when it leaves.
 */
export function createSolanaCustody(parts: SolanaParts): CustodyChain {
  const known = new Map<string, CustodyEvent[]>()
  const changed = createChangedAccounts()
  const accounts = createRecent(Number.POSITIVE_INFINITY, () => listAccounts(parts))
  return {
    chainId: parts.settings.chainId,
    async readCustody(after, hard, senders = [], inputs = async () => []): Promise<Custody> {
      const payers = [...new Set([...ownFeePayers(parts.settings), ...senders])]
      const vaults = await accounts.read()
      const open = await inputs()
      const { slot, held, inputsHeld, balances } = await readBalances(parts, { vaults, payers, open }, hard)
      const sum = (found: readonly CustodyEvent[]) => [...held, ...escrowOf(parts, open, inputsHeld, found)]
      if (after === undefined) return { block: slot, events: [], balances: sum([]) }
      const due = changed.findDue(balances)
      // Their events belong to the next range.
      if (due.length === 0) return { block: after, events: [] }
      const since = after > OVERLAP_SLOTS ? after - OVERLAP_SLOTS : 0n
      const landed = await readHistory(parts.client.agreed, due, { since, upTo: slot })
      const books = { vaults, payers: new Set(payers) }
      for (const { signature } of landed)
        known.set(signature, known.get(signature) ?? (await readEvents(parts, books, signature)))
      const events = eventsWithin(known, { since, upTo: slot })
      forgetOldest(known)
      changed.markRead(due)
      return { block: slot, events, balances: sum(events) }
    },
    // Every event of this chain contains its amounts.
    findPaid: async () => undefined,
    // A lock is an event only if one of our fee payers signed it.
    isOurLock: async () => true,
    findSold: async () => undefined,
  }
}

/** Those of accounts that were read before as well: their range overlaps with this one. */
function eventsWithin(
  known: ReadonlyMap<string, readonly CustodyEvent[]>,
  { since, upTo }: { since: bigint; upTo: bigint },
): CustodyEvent[] {
  const all = [...known.values()].flat().filter(({ block }) => block > since && block <= upTo)
  return all.sort((a, b) => Number(a.block - b.block))
}

function forgetOldest(known: Map<string, unknown>): void {
  for (const [oldest] of known) {
    if (known.size <= MAX_KNOWN) return
    known.delete(oldest)
  }
}

async function listAccounts({ settings, facts }: SolanaParts): Promise<VaultAccount[]> {
  const owner = settings.vault
  const found = await Promise.all(settings.tokens.map((mint) => facts.findToken(mint)))
  const tokens = found.flatMap((token) => token ?? [])
  return Promise.all(
    tokens.map(async (token) => {
      const address = isNative(token) ? owner : await toTokenAccountAddress({ owner, ...token })
      return { address, token }
    }),
  )
}

type Listed = { vaults: readonly VaultAccount[]; payers: readonly string[]; open: readonly LockRef[] }

/** The vault's accounts, the fee payers and the first hundred inputs are of one slot, up to which events are read. */
async function readBalances(
  { client, addresses }: SolanaParts,
  { vaults, payers, open }: Listed,
  hard: Block,
) {
  const inputs = await Promise.all(open.map((op) => addresses.inputOf(op)))
  const own = [...vaults.map(({ address }) => address), ...payers]
  const at = { commitment: 'finalized', minContextSlot: hard.number } as const
  const { accounts, slot } = await readAccountsAt(client.agreed, { addresses: [...own, ...inputs], ...at })
  const held = vaults.map(({ token }, index): Held => {
    const account = accounts[index]
    const amount = isNative(token) ? account?.lamports : account && toTokenAccount(account)?.amount
    return { place: 'vault', token: token.mint, amount: amount ?? 0n }
  })
  return {
    slot,
    held,
    balances: own.map((address, index): Balance => {
      const amount = held[index]?.amount ?? accounts[index]?.lamports
      return { address, amount: amount ?? 0n }
    }),
    inputsHeld: accounts.slice(own.length).map(amountIn),
  }
}

function amountIn(account: RawAccount | undefined): bigint {
  return (account && decodeInputAccount({ programAddress: account.owner, data: account.data })?.amount) ?? 0n
}

/** The inputs of each token: of open swaps as their accounts show them, of others as the events of this reading do. */
function escrowOf(
  { settings }: SolanaParts,
  open: readonly LockRef[],
  amounts: readonly bigint[],
  events: readonly CustodyEvent[],
): Held[] {
  const totals = new Map(settings.tokens.map((mint) => [mint, 0n]))
  const add = (token: string, amount: bigint) => totals.set(token, (totals.get(token) ?? 0n) + amount)
  for (const [index, { inputToken }] of open.entries()) add(inputToken, amounts[index] ?? 0n)
  const known = new Set(open.map(({ hash }) => hash))
  const left = new Set(
    events.flatMap((event) => (event.kind === 'claimed' || event.kind === 'refunded' ? event.op : [])),
  )
  for (const event of events) {
    if (event.kind !== 'locked' || known.has(event.op) || left.has(event.op)) continue
    if (event.token !== undefined) add(event.token, event.amount ?? 0n)
  }
  return [...totals].map(([token, amount]) => ({ place: 'escrow', token, amount }))
}

async function readEvents(parts: SolanaParts, books: Books, txHash: string): Promise<CustodyEvent[]> {
  const { program } = parts.settings
  const query = { txHash, commitment: 'finalized', program } as const
  const found = await readTransaction(parts.client.agreed, query)
  if (!found) throw new Error(`The node lists ${txHash} but does not return it`)
  return eventsOf(parts.settings, books, found)
}
