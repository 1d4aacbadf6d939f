import { type Address, getBase64Encoder, type Signature } from '@solana/kit'
import type { Block } from '../chain.ts'
import type { Custodian, Custody, CustodyChain, CustodyEvent, Held } from '../custody.ts'
import { toTokenAccountAddress } from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { isNative, NATIVE_TOKEN, type Token } from './mint.ts'
import type { SolanaParts } from './parts.ts'
import { toTokenAccount } from './token-layout.ts'
import { type HistoryEntry, readHistory } from './vault-history.ts'

type VaultAccount = { place: Custodian; address: string; token: Token }

// Overlap with the next range, about a minute, for transactions that a node indexes late.
const OVERLAP_SLOTS = 150n
const MAX_KNOWN = 5_000

/** The balances of a Solana chain's vaults, and every transaction that changed them. */
export function createSolanaCustody(parts: SolanaParts): CustodyChain {
  const known = new Map<string, CustodyEvent[]>()
  const quiet = createQuiet()
  const accounts = rememberOnce(() => listAccounts(parts))
  return {
    chainId: parts.settings.chainId,
    async readCustody(after, hard, senders = []): Promise<Custody> {
      const vaults = await accounts()
      const { slot, balances } = await readBalances(parts.client.agreed, vaults, hard)
      if (after === undefined) return { block: slot, events: [], balances }
      // Skips the history: its events belong to the next range.
      if (quiet.isQuiet(balances)) return { block: after, events: [] }
      const since = after > OVERLAP_SLOTS ? after - OVERLAP_SLOTS : 0n
      const landed = await readHistory(parts.client.agreed, addressesOf(vaults), { since, upTo: slot })
      const ours = new Set([...Object.values(parts.settings.feePayers), ...senders])
      const events: CustodyEvent[] = []
      for (const entry of landed) {
        const found = known.get(entry.signature) ?? (await readEvents(parts.client, { vaults, ours }, entry))
        known.set(entry.signature, found)
        events.push(...found)
      }
      forgetOldest(known)
      return { block: slot, events, balances }
    },
    // Every event of this chain contains its amounts.
    findPaid: async () => undefined,
    // Proved by its marker, which only our fee payer can create.
    isOurLock: async () => true,
    findSold: async () => undefined,
  }
}

// A mismatch counts once three readings show it.
const READ_AGAIN = 4
const QUIET_MS = 60_000

/** Whether the balances stayed the same for several readings: then their history, one call per account, can wait. */
function createQuiet() {
  let last = ''
  let readings = 0
  let readAt = 0
  return {
    isQuiet(balances: readonly Held[]): boolean {
      const shown = balances.map(({ amount }) => amount).join()
      readings = shown === last ? readings + 1 : 1
      last = shown
      if (readings > READ_AGAIN && performance.now() - readAt < QUIET_MS) return true
      readAt = performance.now()
      return false
    },
  }
}

const addressesOf = (vaults: readonly VaultAccount[]) => vaults.map(({ address }) => address)

function forgetOldest(known: Map<string, unknown>): void {
  for (const [oldest] of known) {
    if (known.size <= MAX_KNOWN) return
    known.delete(oldest)
  }
}

async function listAccounts({ settings, facts }: SolanaParts): Promise<VaultAccount[]> {
  const tokens = await Promise.all(settings.tokens.map((mint) => facts.tokenOf(mint)))
  const owners = [
    ['escrow', settings.vaults.intake],
    ['vault', settings.vaults.inventory],
  ] as const
  const listed = owners.flatMap(([place, owner]) =>
    tokens.map(async (token) => {
      const address = isNative(token) ? owner : await toTokenAccountAddress({ owner, ...token })
      return { place, address, token }
    }),
  )
  return Promise.all(listed)
}

/** All of one slot, up to which the events are read. */
async function readBalances({ rpc }: SolanaClient, vaults: readonly VaultAccount[], hard: Block) {
  const options = { encoding: 'base64', commitment: 'finalized', minContextSlot: hard.number } as const
  const { context, value } = await rpc.getMultipleAccounts(addressesOf(vaults) as Address[], options).send()
  const balances = vaults.map(({ place, token }, index): Held => {
    const account = value[index]
    if (!account) return { place, token: token.mint, amount: 0n }
    const data = getBase64Encoder().encode(account.data[0])
    const amount = isNative(token) ? account.lamports : (toTokenAccount({ ...account, data })?.amount ?? 0n)
    return { place, token: token.mint, amount }
  })
  return { slot: context.slot, balances }
}

type Delta = { place: Custodian; token: string; amount: bigint }

/** The effects of one transaction on the vaults and on its fee payer. */
async function readEvents(
  { agreed }: SolanaParts['client'],
  { vaults, ours }: { vaults: readonly VaultAccount[]; ours: ReadonlySet<string> },
  entry: HistoryEntry,
): Promise<CustodyEvent[]> {
  const found = await agreed.rpc
    .getTransaction(entry.signature as Signature, {
      commitment: 'finalized',
      encoding: 'json',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  if (!found?.meta) throw new Error(`The node lists ${entry.signature} but does not return it`)
  const { meta, transaction } = found
  const keys: readonly string[] = transaction.message.accountKeys
  const payer = keys[0] ?? ''
  const isOurs = ours.has(payer)
  const op = isOurs ? opIn(entry.memo) : undefined
  const cost = (meta.preBalances[0] ?? 0n) - (meta.postBalances[0] ?? 0n)
  const spent =
    isOurs && cost > 0n
      ? [{ kind: 'spent' as const, token: NATIVE_TOKEN.mint, amount: cost, ...(op && { op }) }]
      : []
  const deltas = meta.err === null ? deltasIn(vaults, keys, meta) : []
  const moves = op ? toPayment(op, deltas) : deltas.map(toUnknown)
  return [...moves, ...spent].map((event, part) => ({
    txHash: entry.signature,
    block: found.slot,
    part,
    ...event,
  }))
}

const opIn = (memo: string | null) => {
  const id = memo?.match(/\b[0-9a-f]{64}\b/)?.[0]
  return id && `0x${id}`
}

type Meta = {
  preBalances: readonly bigint[]
  postBalances: readonly bigint[]
  preTokenBalances?: readonly TokenBalance[]
  postTokenBalances?: readonly TokenBalance[]
}
type TokenBalance = { accountIndex: number; mint: string; uiTokenAmount: { amount: string } }

function deltasIn(vaults: readonly VaultAccount[], keys: readonly string[], meta: Meta): Delta[] {
  const heldIn = (balances: readonly TokenBalance[] | undefined, index: number, mint: string) =>
    BigInt(
      balances?.find((held) => held.accountIndex === index && held.mint === mint)?.uiTokenAmount.amount ?? 0,
    )
  return vaults.flatMap(({ place, address, token: { mint } }) => {
    const index = keys.indexOf(address)
    if (index < 0) return []
    const [before, after] = isNative({ mint })
      ? [meta.preBalances[index] ?? 0n, meta.postBalances[index] ?? 0n]
      : [heldIn(meta.preTokenBalances, index, mint), heldIn(meta.postTokenBalances, index, mint)]
    return after === before ? [] : [{ place, token: mint, amount: after - before }]
  })
}

type Unplaced<T> = T extends unknown ? Omit<T, 'txHash' | 'block' | 'part'> : never
type Move = Unplaced<CustodyEvent>

/** A transaction of our fee payer with an op id in its memo: the changes of the vaults show its kind. */
function toPayment(op: string, deltas: readonly Delta[]): Move[] {
  const at = (place: Custodian) => deltas.find((delta) => delta.place === place)
  const [intake, inventory] = [at('escrow'), at('vault')]
  if (deltas.length > 2 || (intake && inventory && intake.amount + inventory.amount !== 0n)) {
    return deltas.map(toUnknown)
  }
  if (intake && intake.amount > 0n)
    return [{ kind: 'locked', op, token: intake.token, amount: intake.amount }]
  if (intake) {
    const kind = inventory ? 'claimed' : 'refunded'
    return [{ kind, op, token: intake.token, amount: -intake.amount }]
  }
  if (!inventory || inventory.amount > 0n) return deltas.map(toUnknown)
  return [{ kind: 'delivered', delivery: op, token: inventory.token, amount: -inventory.amount }]
}

function toUnknown({ place, token, amount }: Delta): Move {
  return amount > 0n
    ? { kind: 'received', place, token, amount }
    : { kind: 'left', place, token, amount: -amount }
}

function rememberOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  return () => {
    known ??= read().catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
}
