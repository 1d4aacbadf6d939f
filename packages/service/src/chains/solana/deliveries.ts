import { type DecodedDelivery, decodeMarker, isSweepable, type Marker } from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import { collectError } from '../../swap/group.ts'
import type { Op } from '../../swap/swap.ts'
import type { Delivered, PaidOp, Simulation } from '../chain.ts'
import { isNative, type RawAccount, readAccounts } from './accounts.ts'
import type { SolanaBlock } from './heads.ts'
import { findInHistory, type Landing, readLandings } from './history.ts'
import type { SolanaParts } from './parts.ts'
import { heldIn, holdingAccount, readVaultBalances } from './reads.ts'
import { judgeRecipient, recipientAccounts } from './recipient.ts'
import { ownAddresses } from './settings.ts'

type Depths = { head: SolanaBlock; hard: SolanaBlock }
type At = Pick<SolanaBlock, 'commitment' | 'number'>

/** The markers of these deliveries at a block, undefined where there is none. */
export async function readMarkers(
  { client, settings, addresses }: SolanaParts,
  deliveryHashes: readonly string[],
  { commitment, number: minContextSlot }: At,
): Promise<(Marker | undefined)[]> {
  const markers = await Promise.all(deliveryHashes.map((hash) => addresses.markerOf(hash)))
  const accounts = await readAccounts(client.agreed, { addresses: markers, commitment, minContextSlot })
  return accounts.map((account) => account && toMarker(settings, account))
}

function toMarker({ program }: SolanaParts['settings'], { owner, data }: RawAccount): Marker | undefined {
  return decodeMarker(program as Address, { programAddress: owner, data })
}

/**
 * Finds deliveries; those old enough to be final are read as final, which excludes dropped forks. Nodes are not asked
 * again about the transactions in `landed`, by delivery hash, to which this adds.
 */
export async function findDeliveries(
  parts: SolanaParts,
  paid: readonly PaidOp[],
  { head, hard }: Depths,
  faults?: unknown[],
  landed: Map<string, Landing> = new Map(),
): Promise<Map<string, Delivered>> {
  const delivered = new Map<string, Delivered>()
  const hashes = paid.map(({ op }) => op.deliveryHash)
  const markers = await readMarkers(parts, hashes, head)
  const found = paid.flatMap(({ op, txHash }, index) => {
    const marker = markers[index]
    return marker ? [{ op, marker, txHash }] : []
  })
  const isKnown = ({ op }: Marked) => landed.has(op.deliveryHash)
  const unknown = found.filter((each) => !isKnown(each))
  const made = await findLandings(parts, unknown, head, faults)
  for (const [{ deliveryHash }, landing] of made) landed.set(deliveryHash, landing)
  const old = found.filter(({ op }) => (landed.get(op.deliveryHash)?.slot ?? head.number) <= hard.number)
  const final = await readMarkers(
    parts,
    old.map(({ op }) => op.deliveryHash),
    hard,
  )
  const dropped = new Set(old.filter((_, index) => !final[index]).map(({ op }) => op))
  for (const { op, marker } of found) {
    const landing = landed.get(op.deliveryHash)
    if (!landing || dropped.has(op)) continue
    const isItsOwn = marker.recipient === op.recipient && marker.mint === op.outputToken
    const amount = isItsOwn ? marker.amount : 0n
    delivered.set(op.hash, { txHash: landing.txHash, block: landing.slot, amount })
  }
  return delivered
}

type Marked = { op: Op; txHash?: string }

/** The transactions that made these deliveries: from the record, or from the history of the marker. */
async function findLandings(
  parts: SolanaParts,
  marked: readonly Marked[],
  at: At,
  faults: unknown[] | undefined,
): Promise<Map<Op, Landing>> {
  if (marked.length === 0) return new Map()
  const ids = marked.map(({ op }) => op.deliveryHash)
  const signed = await parts.findSigned('deliver', ids)
  const namedBy = ({ op, txHash }: Marked) => [
    ...(txHash === undefined ? [] : [txHash]),
    ...(signed.get(op.deliveryHash) ?? []),
  ]
  const recorded = await readLandings(parts.client.agreed, marked.flatMap(namedBy), at.commitment)
  const landings = new Map<Op, Landing>()
  const look = async (each: Marked) => {
    const known = namedBy(each).flatMap((txHash) => recorded.get(txHash) ?? [])[0]
    const landing = known ?? (await searchDelivery(parts, each.op.deliveryHash, at))
    if (landing) landings.set(each.op, landing)
  }
  await Promise.all(marked.map((each) => collectError(faults, () => look(each))))
  return landings
}

/** The transaction that created the marker of a delivery. */
export async function searchDelivery(
  { client, settings, addresses }: SolanaParts,
  deliveryHash: string,
  { commitment, number: minContextSlot }: At,
): Promise<(Landing & Pick<Delivered, 'amount'>) | undefined> {
  const address = await addresses.markerOf(deliveryHash)
  const { program } = settings
  const query = { step: 'deliver', address, commitment, minContextSlot, program } as const
  return findInHistory(client.agreed, query, ({ escrow, txHash, slot }) => {
    const made = escrow.find(
      (each): each is DecodedDelivery => each.kind === 'deliver' && isFor(each, address),
    )
    return made && { txHash, slot, amount: made.amount }
  })
}

const isFor = ({ marker }: DecodedDelivery, address: string) => marker === address

/** A marker that could have been swept proves nothing by its absence. */
class SweepableError extends Error {
  override name = 'SweepableError'
}

/** Of an op whose marker could have been swept there is no answer: a fault. */
export async function readUndelivered(
  parts: SolanaParts,
  ops: readonly Op[],
  at: SolanaBlock,
  faults?: unknown[],
): Promise<Set<string>> {
  const hashes = ops.map(({ deliveryHash }) => deliveryHash)
  const markers = await readMarkers(parts, hashes, at)
  const missing = ops.filter((_, index) => !markers[index])
  const isGone = ({ fillDeadline }: Op) =>
    isSweepable({ fillDeadline: BigInt(fillDeadline) }, BigInt(at.seconds))
  const gone = missing.filter(isGone)
  const errors = gone.map(({ hash }) => new SweepableError(`The marker of ${hash} could have been swept`))
  if (errors[0] && !faults) throw errors[0]
  faults?.push(...errors)
  return new Set(missing.filter((op) => !isGone(op)).map(({ hash }) => hash))
}

/** The deliverable amount of each token in the vault; of the native coin, the rent minimum stays. */
export async function readHoldings({ client, settings, facts }: SolanaParts, at: SolanaBlock) {
  const [rent, ...found] = await Promise.all([
    facts.rent(),
    ...settings.tokens.map((mint) => facts.findToken(mint)),
  ])
  const tokens = found.flatMap((token) => token ?? [])
  const { commitment, number: minContextSlot } = at
  const query = { owner: settings.vault, tokens, commitment, minContextSlot }
  const balances = await readVaultBalances(client, query)
  return tokens.map((token) => {
    const held = balances.get(token.mint) ?? 0n
    const kept = isNative(token) ? rent.emptyLamports : 0n
    return { token: token.mint, amount: held > kept ? held - kept : 0n }
  })
}

/** Whether the payment would arrive, judged by the accounts it touches, all read in one call. */
export async function simulateDelivery(parts: SolanaParts, op: Op): Promise<Simulation> {
  const { client, settings, facts, addresses } = parts
  const { vault } = settings
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(op.outputToken)])
  const paid = { recipient: op.recipient, token, amount: op.quotedOutput, rent, ours: ownAddresses(settings) }
  const [marker, holding, receiving] = await Promise.all([
    addresses.markerOf(op.deliveryHash),
    holdingAccount(vault, token),
    recipientAccounts(paid),
  ])
  const read = await readAccounts(client, { addresses: [marker, holding, ...receiving] })
  const [marked, held, ...received] = read
  if (marked && toMarker(settings, marked)) return { kind: 'notNow' }
  const recipient = judgeRecipient(paid, receiving, received)
  // Does not create a token account that the quote did not charge for: its owner closed it and has to reopen it.
  const isMissing = recipient.kind === 'missing' && !op.createsAccount
  if (recipient.kind === 'refused' || isMissing) return { kind: 'recipientRefuses' }
  const kept = isNative(token) ? rent.emptyLamports : 0n
  return { kind: heldIn(held, vault, token) - kept < op.quotedOutput ? 'noLiquidity' : 'ok' }
}
