import { controlShape, type RunningChain, startChain } from '@geoswap/devnet'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createHeadSubscription, type EvmHeadSubscription } from './heads.ts'

let chain: RunningChain
let subscription: EvmHeadSubscription
beforeAll(async () => {
  chain = await startChain({ name: 'subscription', chainId: 31_337, blockMs: 250 })
})
afterEach(() => subscription.stop())
afterAll(() => chain?.stop())

test('heads are reported once the subscription is kept', async () => {
  let heads = 0
  const options = { urls: [chain.rpcUrl.replace('http', 'ws')], blockMs: 250, onFault: () => {} }
  subscription = createHeadSubscription({
    ...options,
    onHead() {
      heads += 1
    },
  })
  expect(subscription.isConnected()).toBe(false)

  subscription.keep()

  await expect.poll(() => heads, { timeout: 10_000 }).toBeGreaterThan(2)
  expect(subscription.isConnected()).toBe(true)
})

test('a node that does not answer is reported, and the next one is tried', async () => {
  const faults: unknown[] = []
  const urls = ['ws://127.0.0.1:9/secret', chain.rpcUrl.replace('http', 'ws')]
  subscription = createHeadSubscription({
    urls,
    blockMs: 250,
    onHead: () => {},
    onFault: (error) => faults.push(error),
  })

  subscription.keep()

  await expect.poll(() => subscription.isConnected(), { timeout: 15_000 }).toBe(true)
  expect(String(faults[0])).toBe('Error: 127.0.0.1:9 sends no heads')
})

test('a subscription that falls silent is opened again at the same node', async () => {
  const silent = await startChain({ name: 'silent', chainId: 31_337, blockMs: 250, shape: 'arbitrum' })
  subscription = createHeadSubscription({
    urls: [silent.rpcUrl.replace('http', 'ws')],
    blockMs: 250,
    onHead: () => {},
    onFault: () => {},
  })
  const isConnected = () => {
    subscription.keep()
    return subscription.isConnected()
  }
  await expect.poll(isConnected, { timeout: 15_000 }).toBe(true)

  await controlShape(silent.rpcUrl, 'shape_silenceSubscriptions')

  await expect.poll(isConnected, { timeout: 15_000 }).toBe(false)
  await expect.poll(isConnected, { timeout: 15_000 }).toBe(true)
  await silent.stop()
})
