import { expect, test } from 'vitest'
import type { Op, Swap } from '../../src/swap/swap.ts'
import { nothing, type Stage, taken } from './actor.ts'
import { INPUT_AMOUNT, routes } from './world.ts'

export function describeInputs(onStage: () => Stage): void {
  test.each(routes)(
    'of $input is taken exactly, and shows as locked at each depth in turn',
    async (route) => {
      const { world, actor } = onStage()
      const swap = await world.newSwap(route)
      const moved = await actor.watch(swap)
      expect(await actor.statesOf(swap)).toEqual({ head: 'none', hard: 'none' })
      expect(await actor.find('locked', swap.op)).toBeUndefined()

      const { txHash } = await actor.lock(swap)

      expect(await moved()).toEqual(taken)
      expect(await actor.statesOf(swap)).toEqual({ head: 'locked', hard: 'none' })
      const { head, hard } = await actor.look()
      const landed = await actor.find('locked', swap.op)
      expect(landed?.txHash).toBe(txHash)
      expect(landed?.block).toBeGreaterThan(hard.number)
      expect(landed?.block).toBeLessThanOrEqual(head.number)
      await world.finalize()
      expect(await actor.statesOf(swap)).toEqual({ head: 'locked', hard: 'locked' })
      expect(await actor.find('locked', swap.op)).toEqual(landed)
      expect(await actor.find('refunded', swap.op)).toBeUndefined()
    },
  )

  test.each(routes)('of $input that left the wallet is an obstacle, and is not taken', async (route) => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap(route)
    const view = { wallet: swap.op.wallet, token: swap.op.inputToken }
    const { head } = await chain.readHeads()
    const before = await chain.readWallet(view)
    expect(before.balance).toBe(3n * INPUT_AMOUNT)
    expect(before.block).toBeGreaterThanOrEqual(head.number)
    expect(await chain.findObstacle(swap)).toBeUndefined()

    await world.emptyWallet(swap)

    expect((await chain.readWallet(view)).balance).toBe(0n)
    expect(await chain.findObstacle(swap)).toBe('INPUT_UNAVAILABLE')
    const moved = await actor.watch(swap)
    await actor.lock(swap)
    expect(await moved()).toEqual(nothing)
    expect((await actor.statesOf(swap)).head).toBe('none')
  })

  test.each(routes)('of $input is signed by its wallet, for this op only', async (route) => {
    const { world, chain } = onStage()
    const [swap, other] = [await world.newSwap(route), await world.newSwap(route)]
    const withOp = (change: Partial<Op>): Swap => ({ ...swap, op: { ...swap.op, ...change } })

    expect(await chain.isSigned(swap)).toBe(true)
    expect(await chain.isSigned(withOp({ wallet: other.op.wallet }))).toBe(false)
    expect(await chain.isSigned(withOp({ hash: other.op.hash }))).toBe(false)
    expect(await chain.isSigned({ ...swap, signature: other.signature })).toBe(false)
    expect(await chain.isSigned({ ...swap, signature: 'none' })).toBe(false)
  })

  test('whose signature was lost counts as signed once the chain has taken it', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const lost = { ...swap, signature: '' }
    expect(await chain.isSigned(lost)).toBe(false)

    await actor.lock(swap)

    expect(await chain.isSigned(lost)).toBe(true)
  })

  test('needs no further delegation of a wallet that has paid once', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const kindNow = async () => (await chain.readDelegation?.(swap.op.wallet))?.kind ?? 'unneeded'
    expect(['none', 'unneeded']).toContain(await kindNow())

    await actor.lock(swap)

    expect(['ours', 'unneeded']).toContain(await kindNow())
  })

  test('can be taken in the last block of its life', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const moved = await actor.watch(swap)
    const { raw } = await actor.sign('relay', () => chain.planLock([swap]))

    await world.comeTo({ deadline: swap.op.opDeadline, lastValid: swap.lastValid }, 'last')
    expect(chain.isLockOver(swap, (await chain.readHeads()).head)).toBe(false)
    await chain.broadcast(raw)
    await world.confirm()

    expect(await moved()).toEqual(taken)
  })

  test('is over one block later, for good once that is final, and late bytes move nothing', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const moved = await actor.watch(swap)
    const sent = await actor.sign('relay', () => chain.planLock([swap]))

    await world.comeTo({ deadline: swap.op.opDeadline, lastValid: swap.lastValid }, 'tooLate')
    await chain.broadcast(sent.raw)
    await world.confirm()
    const soft = await actor.look()
    expect(chain.isLockOver(swap, soft.head)).toBe(true)
    expect(chain.isLockOver(swap, soft.hard)).toBe(false)
    await world.finalize()

    expect(chain.isLockOver(swap, (await actor.look()).hard)).toBe(true)
    expect((await actor.statesOf(swap)).hard).toBe('none')
    expect(await actor.fatesOf('relay', [sent])).toEqual({ final: [sent.id], unmined: [] })
    await chain.broadcast(sent.raw)
    await world.confirm()
    expect(await moved()).toEqual(nothing)
  })
}
