import { collectError } from '../../model/collect-error.ts'
import type { Op } from '../../model/swap.ts'
import type { Delivered, Simulation } from '../chain.ts'
import { toTokenAccountAddress } from './accounts.ts'
import type { SolanaBlock } from './blocks.ts'
import { type Creation, findEach, type MarkerRef } from './marker-book.ts'
import { isNative, type Token } from './mint.ts'
import type { SolanaParts } from './parts.ts'
import { readVaultBalances } from './reads.ts'
import { readRecipient } from './recipient.ts'

export function deliveryRef({ settings }: SolanaParts, op: Pick<Op, 'deliveryHash'>): MarkerRef {
  return { kind: 'deliver', id: op.deliveryHash, base: settings.vaults.inventory }
}

type Depths = { head: SolanaBlock; hard: SolanaBlock }

/** Finds deliveries; those old enough to be final are read as final, which excludes dropped forks. */
export async function findDeliveries(
  parts: SolanaParts,
  ops: readonly Op[],
  { head, hard }: Depths,
  faults?: unknown[],
): Promise<Map<string, Delivered>> {
  const soft = await findAt(parts, ops, head, faults)
  const old = ops.filter((op) => soft.has(op) && (soft.get(op)?.slot ?? head.number) <= hard.number)
  const final = await findAt(parts, old, hard, faults)
  const delivered = new Map<string, Delivered>()
  const look = async (op: Op) => {
    const isOld = old.includes(op)
    const creation = (isOld ? final : soft).get(op)
    if (!creation) return
    const account = await accountOf(op.recipient, await parts.facts.tokenOf(op.outputToken))
    const amount = creation.paidTo === account ? creation.amount : 0n
    delivered.set(op.hash, { txHash: creation.txHash, block: creation.slot, amount })
  }
  await Promise.all(ops.map((op) => collectError(faults, () => look(op))))
  return delivered
}

/** Without those that cannot be read. */
async function findAt(
  parts: SolanaParts,
  ops: readonly Op[],
  { commitment, number: minContextSlot }: SolanaBlock,
  faults: unknown[] | undefined,
): Promise<Map<Op, Creation | undefined>> {
  const refs = new Map(ops.map((op) => [op, deliveryRef(parts, op)]))
  return findEach(parts.markers, refs, { commitment, minContextSlot }, faults)
}

async function accountOf(owner: string, token: Token): Promise<string> {
  return isNative(token) ? owner : toTokenAccountAddress({ owner, ...token })
}

export async function readUndelivered(
  parts: SolanaParts,
  ops: readonly Op[],
  at: SolanaBlock,
  faults?: unknown[],
): Promise<Set<string>> {
  const found = await findAt(parts, ops, at, faults)
  return new Set([...found].flatMap(([op, creation]) => (creation ? [] : [op.hash])))
}

/** The deliverable amount of each token in the inventory; of the native coin, the rent minimum stays. */
export async function readHoldings({ client, settings, facts }: SolanaParts, at: SolanaBlock) {
  const [rent, ...tokens] = await Promise.all([
    facts.rent(),
    ...settings.tokens.map((mint) => facts.tokenOf(mint)),
  ])
  const owner = settings.vaults.inventory
  const { commitment, number: minContextSlot } = at
  const balances = await readVaultBalances(client, { owner, tokens, commitment, minContextSlot })
  return tokens.map((token) => {
    const held = balances.get(token.mint) ?? 0n
    const kept = isNative(token) ? rent.emptyLamports : 0n
    return { token: token.mint, amount: held > kept ? held - kept : 0n }
  })
}

/** Whether the payment would arrive, judged by the accounts it touches. */
export async function simulateDelivery(
  parts: SolanaParts,
  op: Op,
  head: Pick<SolanaBlock, 'commitment'>,
): Promise<Simulation> {
  const { client, settings, facts, markers } = parts
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(op.outputToken)])
  const ours = [...Object.values(settings.vaults), ...Object.values(settings.feePayers)]
  const paid = { recipient: op.recipient, token, amount: op.quotedOutput, rent, ours }
  const [recipient, holdings, generation] = await Promise.all([
    readRecipient(client, paid),
    readVaultBalances(client, { owner: settings.vaults.inventory, tokens: [token], ...head }),
    markers.nextGeneration(deliveryRef(parts, op)),
  ])
  if (generation === undefined) return { kind: 'notNow' }
  // Does not create a token account that the quote did not charge for: its owner closed it and has to reopen it.
  const isMissing = recipient.kind === 'missing' && !op.createsAccount
  if (recipient.kind === 'refused' || isMissing) return { kind: 'recipientRefuses' }
  const kept = isNative(token) ? rent.emptyLamports : 0n
  const held = (holdings.get(token.mint) ?? 0n) - kept
  return { kind: held < op.quotedOutput ? 'noLiquidity' : 'ok' }
}
