import { expect, test } from 'vitest'
import type { Swap } from '../../src/swap/swap.ts'
import { claimed, nothing, type Stage, taken } from './actor.ts'
import { routes, type SwapOptions } from './world.ts'

export function describeClosing(onStage: () => Stage): void {
  async function newLocked(options?: SwapOptions) {
    const { world, actor } = onStage()
    const swap = await world.newSwap(options)
    const moved = await actor.watch(swap)
    await actor.lock(swap)
    await world.finalize()
    return { swap, moved }
  }

  async function expectNoMore(swap: Swap): Promise<void> {
    const { actor } = onStage()
    const { head: before } = await actor.statesOf(swap)
    const moved = await actor.watch(swap)
    for (const plan of [actor.claiming([swap]), actor.refunding(swap)]) {
      expect(await actor.stopperOf('relay', plan)).toBe('chain')
    }
    expect(await moved()).toEqual(nothing)
    expect((await actor.statesOf(swap)).head).toBe(before)
  }

  test.each(routes)('of $input is claimed into the inventory, exactly and once', async (route) => {
    const { world, chain, actor } = onStage()
    const { swap, moved } = await newLocked(route)
    const first = await actor.sign('relay', actor.claiming([swap]))
    await world.confirm()
    const second = await actor.sign('relay', actor.claiming([swap]), { ahead: 1 })
    expect(second.txHash).not.toBe(first.txHash)

    for (const { raw } of [first, second]) await chain.broadcast(raw)
    await world.confirm()
    expect(await actor.statesOf(swap)).toEqual({ head: 'claimed', hard: 'locked' })
    await world.finalize()

    expect(await moved()).toEqual(claimed)
    expect((await actor.statesOf(swap)).hard).toBe('claimed')
    const both = [first.id, second.id]
    expect(await actor.fatesOf('relay', [first, second])).toEqual({ final: both, unmined: [] })
    await expectNoMore(swap)
    expect(await actor.find('refunded', swap.op)).toBeUndefined()
  })

  test.each(routes)('of $input is refunded to the wallet, exactly and once', async (route) => {
    const { world, chain, actor } = onStage()
    const { swap, moved } = await newLocked(route)
    expect(await chain.canRefund?.(swap)).not.toBe(false)
    const first = await actor.sign('relay', actor.refunding(swap))
    await world.confirm()
    const second = await actor.sign('relay', actor.refunding(swap), { ahead: 1 })
    expect(second.txHash).not.toBe(first.txHash)

    for (const { raw } of [first, second]) await chain.broadcast(raw)
    await world.confirm()
    expect(await actor.statesOf(swap)).toEqual({ head: 'refunded', hard: 'locked' })
    await world.finalize()

    expect(await moved()).toEqual(nothing)
    expect((await actor.statesOf(swap)).hard).toBe('refunded')
    const { hard } = await actor.look()
    const refund = await actor.find('refunded', swap.op)
    expect(refund?.txHash).toBe(first.txHash)
    expect(refund?.creditedTo ?? []).toEqual([])
    expect(refund?.block).toBeLessThanOrEqual(hard.number)
    await expectNoMore(swap)
  })

  test.each(['claim', 'refund'] as const)(
    'leaves by a %s once, even if the other was also signed before either was sent',
    async (winner) => {
      const { world, chain, actor } = onStage()
      const { swap, moved } = await newLocked()
      const plans = { claim: actor.claiming([swap]), refund: actor.refunding(swap) }
      const loser = winner === 'claim' ? 'refund' : 'claim'
      const first = await actor.sign('relay', plans[winner])
      const second = await actor.sign('relay', plans[loser], { ahead: 1 })

      for (const { raw } of [first, second]) await chain.broadcast(raw)
      await world.finalize()

      expect(await moved()).toEqual(winner === 'claim' ? claimed : nothing)
      expect((await actor.statesOf(swap)).hard).toBe(winner === 'claim' ? 'claimed' : 'refunded')
    },
  )

  test('moves only by the attester’s signature', async () => {
    const { world, actor } = onStage()
    const { swap, moved } = await newLocked()
    const by = 'stranger'

    for (const plan of [actor.claiming([swap], { by }), actor.refunding(swap, { by })]) {
      expect(await actor.stopperOf('relay', plan)).toBe(world.forgeriesAreRefusedBy)
    }

    expect(await moved()).toEqual(taken)
    expect((await actor.statesOf(swap)).head).toBe('locked')
  })

  test('is not refunded by an expired attestation', async () => {
    const { world, actor } = onStage()
    const { swap, moved } = await newLocked()

    const late = actor.refunding(swap, { isLate: true })
    expect(await actor.stopperOf('relay', late)).toBe(world.forgeriesAreRefusedBy)

    expect(await moved()).toEqual(taken)
    expect((await actor.statesOf(swap)).head).toBe('locked')
  })

  test('is all that can be claimed or refunded: an input that was never taken cannot', async () => {
    const swap = await onStage().world.newSwap()
    // Other swaps provide enough of the same token.
    await newLocked()

    await expectNoMore(swap)
  })
}
