import { expect, test } from 'vitest'
import type { Op } from '../../src/swap/swap.ts'
import { nothing, paid, type Stage } from './actor.ts'
import { routes } from './world.ts'

export function describeDeliveries(onStage: () => Stage): void {
  async function undelivered(op: Op) {
    const { chain, actor } = onStage()
    const { head, hard } = await actor.look()
    return {
      head: (await chain.readUndelivered([op], head)).has(op.hash),
      hard: (await chain.readUndelivered([op], hard)).has(op.hash),
    }
  }

  async function heldOf(op: Op): Promise<bigint> {
    const { chain } = onStage()
    const holdings = await chain.readHoldings((await chain.readHeads()).head)
    return holdings.find(({ token }) => token === op.outputToken)?.amount ?? 0n
  }

  test.each(routes)('of $output pays the quoted output, exactly and once', async (route) => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap(route)
    const { op } = swap
    const moved = await actor.watch(swap)
    expect(await undelivered(op)).toEqual({ head: true, hard: true })
    expect(await actor.find('delivered', op)).toBeUndefined()
    const first = await actor.sign('deliver', () => chain.planDelivery([op]))
    await world.confirm()
    const second = await actor.sign('deliver', () => chain.planDelivery([op]), { ahead: 1 })
    expect(second.txHash).not.toBe(first.txHash)

    for (const { raw } of [first, second]) await chain.broadcast(raw)
    await world.confirm()
    expect(await moved()).toEqual(paid)
    expect(await undelivered(op)).toEqual({ head: false, hard: true })
    const soft = await actor.look()
    const seen = await actor.find('delivered', op)
    expect(seen).toMatchObject({ txHash: first.txHash, amount: op.quotedOutput })
    expect(seen?.block).toBeGreaterThan(soft.hard.number)
    expect(seen?.block).toBeLessThanOrEqual(soft.head.number)
    await world.finalize()

    expect(await undelivered(op)).toEqual({ head: false, hard: false })
    const { txHash } = first
    const proven = await chain.findDeliveries([{ op, txHash }], await actor.look())
    expect(proven.get(op.hash)).toEqual({ txHash, block: seen?.block, amount: op.quotedOutput })
    const both = [first.id, second.id]
    expect(await actor.fatesOf('deliver', [first, second])).toEqual({ final: both, unmined: [] })
    const again = () => chain.planDelivery([op])
    expect(await actor.stopperOf('deliver', again)).toBe('chain')
    expect(await moved()).toEqual(paid)
  })

  test.each(routes)(
    'of $output passes the simulation before it is sent, and not afterwards',
    async (route) => {
      const { world, chain, actor } = onStage()
      const { op } = await world.newSwap(route)
      const held = await heldOf(op)
      expect(await chain.simulateDelivery(op)).toEqual({ kind: 'ok' })
      const as = { sender: world.senders.deliver, terms: await chain.readTerms(await actor.look()) }
      expect(await chain.simulateDelivery(op, as)).toEqual({ kind: 'ok' })

      await actor.land('deliver', () => chain.planDelivery([op]))

      expect(await chain.simulateDelivery(op)).toEqual({ kind: 'notNow' })
      expect(held - (await heldOf(op))).toBe(op.quotedOutput)
    },
  )

  test.each(routes)('of more $output than available finds no liquidity', async (route) => {
    const { world, chain, actor } = onStage()
    const held = await heldOf((await world.newSwap(route)).op)
    const most = await world.newSwap({ ...route, quotedOutput: held })
    const more = await world.newSwap({ ...route, quotedOutput: held + 1n })
    const moved = await actor.watch(more)

    expect(await chain.simulateDelivery(most.op)).toEqual({ kind: 'ok' })
    expect(await chain.simulateDelivery(more.op)).toEqual({ kind: 'noLiquidity' })
    await actor.land('deliver', () => chain.planDelivery([more.op]))

    expect(await moved()).toEqual(nothing)
    expect(await undelivered(more.op)).toEqual({ head: true, hard: true })
  })

  test('to a recipient that cannot receive pays nothing, and the simulation shows it', async () => {
    const { world, chain, actor } = onStage()
    const { output, recipient } = await world.newRefusal()
    const input = output === 'native' ? 'token' : 'native'
    const swap = await world.newSwap({ input, output, recipient })
    const moved = await actor.watch(swap)
    expect(await chain.simulateDelivery(swap.op)).toEqual({ kind: 'recipientRefuses' })

    const sent = await actor.land('deliver', () => chain.planDelivery([swap.op]))
    await world.finalize()

    expect(await moved()).toEqual(nothing)
    expect(await undelivered(swap.op)).toEqual({ head: true, hard: true })
    expect(await actor.find('delivered', swap.op)).toBeUndefined()
    expect(await actor.fatesOf('deliver', [sent])).toEqual({ final: [sent.id], unmined: [] })
  })

  test('that comes too late pays nothing and is final', async () => {
    const { world, chain, actor } = onStage()
    const swap = await world.newSwap()
    const { op } = swap
    const moved = await actor.watch(swap)
    const sent = await actor.sign('deliver', () => chain.planDelivery([op]))
    expect(chain.isDeliveryOver(op, (await actor.look()).head)).toBe(false)

    await world.comeTo({ deadline: op.fillDeadline, lastValid: sent.lastValid }, 'tooLate')
    await chain.broadcast(sent.raw)
    await world.confirm()
    await world.finalize()

    expect(await moved()).toEqual(nothing)
    expect(await undelivered(op)).toEqual({ head: true, hard: true })
    expect(await actor.fatesOf('deliver', [sent])).toEqual({ final: [sent.id], unmined: [] })
  })
}
