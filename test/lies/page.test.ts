import { afterEach, beforeEach, expect, test } from 'vitest'
import { refuse } from '../../packages/sdk/test/service-double.ts'
import { causeOf, request as route, startTrader, type Trader } from '../../packages/sdk/test/trader.ts'
import { prepareSwap } from '../../packages/web/src/swap/prepare.ts'

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => trader.service.close())

const { signal } = new AbortController()
const approve = async () => {}

function start(signatures = new Map()) {
  const client = trader.clientWith({ signatures })
  const { signer } = trader
  const request = { ...route, walletAddress: signer.address }
  const prepare = (change: Partial<Parameters<typeof prepareSwap>[1]> = {}) =>
    prepareSwap(client, { request, signer, approve, signal, signatures, ...change })
  return { client, request, signatures, prepare }
}

test('a refused submission gets no second signature while the first can be used, also after a reload', async () => {
  const { client, prepare, signatures, request } = start()
  const { submission } = await prepare()
  trader.service.next('/swap/submit', refuse('OPERATION_EXPIRED'))
  expect(await causeOf(client.submit(submission))).toMatchObject({ code: 'OPERATION_EXPIRED' })

  const reloaded = start(signatures)
  const widened = { ...request, slippageBps: 500 }

  expect(await causeOf(prepare())).toMatchObject({ code: 'SIGNATURE_OPEN' })
  expect(await causeOf(reloaded.prepare({ request: widened }))).toMatchObject({ code: 'SIGNATURE_OPEN' })
  expect(trader.signed.hashes).toBe(1)
})

test('of two tabs that ask for the same approval, one signs', async () => {
  const { prepare, signatures } = start()
  const other = start(signatures)

  const late = prepare({
    approve: async ({ kind }) => {
      if (kind === 'operation') await other.prepare()
    },
  })

  expect(await causeOf(late)).toMatchObject({ code: 'SIGNATURE_OPEN' })
  expect(trader.signed.hashes).toBe(1)
})

test('a declined approval leaves nothing behind', async () => {
  const { prepare, signatures } = start()
  const controller = new AbortController()
  const decline = async ({ kind }: { kind: string }) => {
    if (kind === 'operation') controller.abort()
    return new Promise<void>((resolve) => controller.signal.aborted || resolve())
  }

  expect(await causeOf(prepare({ approve: decline, signal: controller.signal }))).toBeDefined()
  expect([trader.signed.hashes, signatures.size]).toEqual([0, 0])
})
