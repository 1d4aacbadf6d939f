import { decodeInputAccount } from '@geoswap/solana-escrow'
import type { Address, Signature } from '@solana/kit'
import { createRecent } from '../../async/cache.ts'
import type { Block, LockRef } from '../chain.ts'
import type { Custody, CustodyChain, CustodyEvent, Held } from '../custody.ts'
import { agree } from '../nodes/agree.ts'
import {
  isNative,
  type RawAccount,
  readAccountsAt,
  toTokenAccount,
  toTokenAccountAddress,
} from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { type Books, eventsOf, type VaultAccount } from './custody-events.ts'
import type { SolanaParts } from './parts.ts'
import { ownFeePayers } from './settings.ts'
import { readTransaction } from './transaction.ts'

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

type Balance = { address: string; amount: bigint }

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

type HistoryEntry = { signature: string; slot: bigint; memo: string | null }

type Range = { since: bigint; upTo: bigint }

const PAGE = 1_000

/** The finalized transactions that touched any of these accounts after one slot and up to another, oldest first. */
async function readHistory(
  client: SolanaClient,
  addresses: readonly string[],
  range: Range,
): Promise<HistoryEntry[]> {
  const pages = await Promise.all(addresses.map((address) => readOne(client, address, range)))
  const bySignature = new Map(pages.flat().map((entry) => [entry.signature, entry]))
  return [...bySignature.values()].sort((a, b) => Number(a.slot - b.slot))
}

/** The entries of the range that a majority of the nodes agrees on: newer ones differ between nodes. */
function readOne({ nodes }: SolanaClient, address: string, range: Range): Promise<HistoryEntry[]> {
  const asked = nodes.map((rpc) => readFrom(rpc, address, range))
  return agree(asked, (entries) =>
    entries.map(({ signature, slot, memo }) => `${signature} ${slot} ${memo}`).join(),
  )
}

type Node = SolanaClient['nodes'][number]

async function readFrom(rpc: Node, address: string, { since, upTo }: Range): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  let before: Signature | undefined
  for (;;) {
    const options = {
      commitment: 'finalized',
      limit: PAGE,
      minContextSlot: upTo,
      ...(before && { before }),
    } as const
    const page = await rpc.getSignaturesForAddress(address as Address, options).send()
    for (const { signature, slot, memo } of page) {
      if (slot <= since) return entries
      if (slot <= upTo) entries.push({ signature, slot, memo })
    }
    before = page.at(-1)?.signature
    if (page.length < PAGE || !before) return entries
  }
}
