import { expect, test } from 'vitest'
import type { Swap } from '../../src/swap/swap.ts'
import { claimed, nothing, paid, type Stage, taken } from './actor.ts'

export function describeSending(onStage: () => Stage): void {
  test('is known before it is sent, and lands once however often it is sent', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const moved = await actor.watch(swap)
    const { raw, txHash, request, nonce, terms } = await actor.sign('relay', () => chain.planLock([swap]))
    const as = { sender: world.senders.relay, nonce, terms }

    expect(await chain.sign(request, as)).toMatchObject({ raw, txHash })
    // As both come back from the database.
    const stored = JSON.parse(JSON.stringify({ request, terms }))
    expect(await chain.sign(stored.request, { ...as, terms: stored.terms })).toMatchObject({ raw, txHash })
    expect(await moved()).toEqual(nothing)
    await chain.broadcast(raw)
    await chain.broadcast(raw)
    await world.confirm()
    await chain.broadcast(raw)
    await world.confirm()

    expect(await moved()).toEqual(taken)
    await actor.look()
    expect((await actor.find('locked', swap.op))?.txHash).toBe(txHash)
  })

  test('that the node lost is unmined until it lands, and final once its block is', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const sent = await actor.sign('relay', () => chain.planLock([swap]))

    await world.broadcastInVain(sent.raw)
    await world.confirm()
    expect(await actor.fatesOf('relay', [sent])).toEqual({ final: [], unmined: [sent.id] })
    expect((await actor.statesOf(swap)).head).toBe('none')
    await chain.broadcast(sent.raw)
    await world.confirm()
    expect(await actor.fatesOf('relay', [sent])).toEqual({ final: [], unmined: [] })
    await world.finalize()

    expect(await actor.fatesOf('relay', [sent])).toEqual({ final: [sent.id], unmined: [] })
    expect((await actor.statesOf(swap)).hard).toBe('locked')
  })

  test('that is stuck is replaced only by one with the same effect, which happens once', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const moved = await actor.watch(swap)
    const stuck = await actor.sign('relay', () => chain.planLock([swap]))
    await world.broadcastInVain(stuck.raw)
    for (let block = 0; block < 3; block += 1) await world.confirm()

    const heads = await actor.look()
    const replacement = chain.offerReplacements?.(stuck, await chain.readTerms(heads))?.bounded
    // Without a replacement the same bytes are broadcast again.
    const { request, terms, isBurn } = replacement ?? stuck
    expect({ request, isBurn }).toEqual({ request: stuck.request, isBurn: false })
    const as = { sender: world.senders.relay, nonce: stuck.nonce, terms }
    const second = { ...stuck, ...(await chain.sign(request, as)), id: 'second', replacement: 1, terms }
    for (const { raw } of [stuck, second]) await chain.broadcast(raw)
    await world.confirm()
    await world.finalize()

    expect(await moved()).toEqual(taken)
    const both = [stuck.id, second.id]
    expect(await actor.fatesOf('relay', [stuck, second])).toEqual({ final: both, unmined: [] })
  })

  test('carries as many swaps as the chain allows', async () => {
    const { world, chain, actor } = onStage()
    const swaps: Swap[] = []
    for (let count = Math.min(chain.maxBatch, 3); count > 0; count -= 1) swaps.push(await world.newSwap())
    const ops = swaps.map(({ op }) => op)
    const total = (of: bigint) => of * BigInt(swaps.length)
    const [first] = swaps
    const moved = first && (await actor.watch(first))

    const { txHash } = await actor.land('relay', () => chain.planLock(swaps))
    await world.finalize()
    const states = await chain.readLocks(ops, (await actor.look()).hard)
    expect([...states.values()]).toEqual(ops.map(() => 'locked'))
    for (const op of ops) expect((await actor.find('locked', op))?.txHash).toBe(txHash)
    const delivery = await actor.land('deliver', () => chain.planDelivery(ops))
    const deliveries = await chain.findDeliveries(
      ops.map((op) => ({ op, txHash: delivery.txHash })),
      await actor.look(),
    )
    expect([...deliveries.values()].map((found) => found.txHash)).toEqual(ops.map(() => delivery.txHash))
    await actor.land('relay', actor.claiming(swaps))

    expect(await moved?.()).toEqual({
      wallet: claimed.wallet,
      intake: 0n,
      claimed: total(claimed.claimed),
      spent: total(paid.spent),
      received: paid.received,
    })
  })
}
