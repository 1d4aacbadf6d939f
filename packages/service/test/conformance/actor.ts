import type { Block, Chain, ChainEvent, Heads, Sent, Signed, TxRequest } from '../../src/chains/chain.ts'
import type { Op, Swap } from '../../src/swap/swap.ts'
import { type Attesting, type ConformanceWorld, INPUT_AMOUNT, QUOTED_OUTPUT } from './world.ts'

/** The increase of each balance; `spent` and `received` in the output token, all others in the input token. */
type Moved = { wallet: bigint; intake: bigint; claimed: bigint; spent: bigint; received: bigint }

export const nothing: Moved = { wallet: 0n, intake: 0n, claimed: 0n, spent: 0n, received: 0n }
export const taken: Moved = { ...nothing, wallet: -INPUT_AMOUNT, intake: INPUT_AMOUNT }
export const claimed: Moved = { ...nothing, wallet: -INPUT_AMOUNT, claimed: INPUT_AMOUNT }
export const paid: Moved = { ...nothing, spent: -QUOTED_OUTPUT, received: QUOTED_OUTPUT }

export type Stage = { world: ConformanceWorld; chain: Chain; actor: Actor }
export type Actor = ReturnType<typeof createActor>
type Role = keyof ConformanceWorld['senders']
type Plan = () => Promise<TxRequest | undefined>
type Attested = Partial<Pick<Attesting, 'by' | 'isLate'>>

/** Uses a chain as the flow does, without a database: plan, sign, send, read. */
export function createActor(world: ConformanceWorld, { since }: { since: bigint }) {
  const { chain, senders } = world

  async function look(): Promise<Heads> {
    return chain.readHeads()
  }

  /** The event of this kind that the chain shows of an op now. */
  async function find(kind: ChainEvent['kind'], op: Op): Promise<ChainEvent | undefined> {
    const watched = async () => ({ locks: [op], exits: [op], deliveries: [op] })
    const heads = await look()
    const id = kind === 'delivered' ? op.deliveryHash : op.hash
    for (let from = since; ; ) {
      const { events, to } = await chain.findEvents({ from, heads, watched })
      const found = events.find((event) => event.kind === kind && event.id === id)
      if (found || to >= heads.head.number) return found
      from = to + 1n
    }
  }

  /** `ahead`: how many transactions of the same key are signed but not sent before this one. */
  async function sign(role: Role, plan: Plan, { ahead = 0 } = {}): Promise<Sent & Signed> {
    const request = await plan()
    if (!request) throw new Error('The attestation is too old')
    const heads = await chain.readHeads()
    const { nextNonce } = await chain.readOutcomes(senders[role], [], heads)
    const as = { sender: senders[role], nonce: nextNonce + ahead, terms: await chain.readTerms(heads) }
    const signed = await chain.sign(request, as)
    const recorded = { id: signed.txHash, request, replacement: 0, isBurn: false }
    const { number: sentAtBlock, seconds: sentAtSeconds } = heads.head
    return { ...signed, ...recorded, nonce: as.nonce, terms: as.terms, sentAtBlock, sentAtSeconds }
  }

  async function land(role: Role, plan: Plan): Promise<Sent & Signed> {
    const signed = await sign(role, plan)
    await chain.broadcast(signed.raw)
    await world.confirm()
    return signed
  }

  return {
    look,
    find,
    sign,
    land,
    lock: (swap: Swap) => land('relay', () => chain.planLock([swap])),
    watch: (swap: Swap) => watch(world, swap),
    statesOf: async (swap: Swap) => readStates(chain, swap, await look()),
    claiming: (swaps: readonly Swap[], of?: Attested) => () => planClaim(world, swaps, of),
    refunding: (swap: Swap, of?: Attested) => () => planRefund(world, swap, of),

    async fatesOf(role: Role, sent: readonly Sent[]) {
      const { final, unmined } = await chain.readOutcomes(senders[role], sent, await look())
      return { final: final.map(({ id }) => id), unmined: unmined.map(({ id }) => id) }
    },

    /** Returns which side prevents a forbidden transaction: its plan or, once sent, the chain. */
    async stopperOf(role: Role, plan: Plan): Promise<'plan' | 'chain'> {
      const request = await plan().catch(() => undefined)
      if (!request) return 'plan'
      await land(role, async () => request)
      return 'chain'
    },
  }
}

/** Measures the movements of this swap from now on. */
async function watch(world: ConformanceWorld, swap: Swap): Promise<() => Promise<Moved>> {
  const before = await readHeld(world, swap)
  return async () => {
    const now = await readHeld(world, swap)
    return {
      wallet: now.wallet - before.wallet,
      intake: now.intake - before.intake,
      claimed: now.claimed - before.claimed,
      spent: now.spent - before.spent,
      received: now.received - before.received,
    }
  }
}

async function readHeld({ balanceOf, heldFor, vault }: ConformanceWorld, { op }: Swap): Promise<Moved> {
  const [wallet, intake, claimed, spent, received] = await Promise.all([
    balanceOf(op.wallet, op.inputToken),
    heldFor(op),
    balanceOf(vault, op.inputToken),
    balanceOf(vault, op.outputToken),
    balanceOf(op.recipient, op.outputToken),
  ])
  return { wallet, intake, claimed, spent, received }
}

async function readStates(chain: Chain, { op }: Swap, { head, hard }: Heads) {
  const at = async (block: Block) => (await chain.readLocks([op], block)).get(op.hash)
  return { head: await at(head), hard: await at(hard) }
}

async function planClaim(
  world: ConformanceWorld,
  swaps: readonly Swap[],
  { by = 'attester' }: Attested = {},
) {
  const signature = await world.attest({ kind: 'claim', swaps, by, validUntil: 0, isLate: false })
  return world.chain.planClaim(swaps, [signature])
}

async function planRefund(world: ConformanceWorld, swap: Swap, attested: Attested = {}) {
  const { by = 'attester', isLate = false } = attested
  const { seconds } = (await world.chain.readHeads()).head
  const validUntil = isLate ? seconds - 1 : seconds + 3_600
  const signature = await world.attest({ kind: 'refund', swaps: [swap], validUntil, by, isLate })
  return world.chain.planRefund(swap, { signatures: [signature], validUntil })
}
