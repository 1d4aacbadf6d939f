import { type RunningChain, startChain } from '@geoswap/devnet'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createHeadNews, type EvmHeadNews } from './head-news.ts'

let chain: RunningChain
let news: EvmHeadNews
beforeAll(async () => {
  chain = await startChain({ name: 'news', chainId: 31_337, blockMs: 250 })
})
afterEach(() => news.stop())
afterAll(() => chain?.stop())

test('heads are reported once the subscription is kept', async () => {
  let heads = 0
  const options = { urls: [chain.rpcUrl.replace('http', 'ws')], blockMs: 250, onFault: () => {} }
  news = createHeadNews({
    ...options,
    onHead() {
      heads += 1
    },
  })
  expect(news.isConnected()).toBe(false)

  news.keep()

  await expect.poll(() => heads, { timeout: 10_000 }).toBeGreaterThan(2)
  expect(news.isConnected()).toBe(true)
})

test('a node that does not answer is reported, and the next one is tried', async () => {
  const faults: unknown[] = []
  const urls = ['ws://127.0.0.1:9/secret', chain.rpcUrl.replace('http', 'ws')]
  news = createHeadNews({ urls, blockMs: 250, onHead: () => {}, onFault: (error) => faults.push(error) })

  news.keep()

  await expect.poll(() => news.isConnected(), { timeout: 15_000 }).toBe(true)
  expect(String(faults[0])).toBe('Error: 127.0.0.1:9 sends no heads')
})
