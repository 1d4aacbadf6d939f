import { expect, test } from 'vitest'
import { createPriceBook, createPriceWatch, type PriceChange } from './book.ts'
import type { Outcome, PriceSource } from './source.ts'

type TestAnswer = Outcome | Error | Promise<Outcome>

/** A source of one asset with answers set by the test. */
function createTestSource(name: string, more: { chainId?: number; minIntervalMs?: number } = {}) {
  const controls = { answer: { problem: 'noAnswer' } as TestAnswer, reads: 0 }
  const source: PriceSource = {
    name,
    assets: new Set(['ETH']),
    ...more,
    async read() {
      controls.reads += 1
      const { answer } = controls
      if (answer instanceof Error) throw answer
      return [{ asset: 'ETH', feed: `${name} feed`, outcome: await answer }]
    },
  }
  return Object.assign(controls, { source })
}

function createScene(...testSources: ReturnType<typeof createTestSource>[]) {
  const scene = { now: 1_000_000, stopped: new Set<number>(), faults: [] as string[] }
  const sources = testSources.map(({ source }) => source)
  const book = createPriceBook({
    sources,
    rules: new Map([['ETH', { maxDeviationBps: 200, minSources: 1 }]]),
    isLive: (chainId) => !scene.stopped.has(chainId),
    now: () => scene.now,
    onFault: (_error, source) => scene.faults.push(source),
  })
  const refresh = () => Promise.all(sources.map((source) => book.refresh(source)))
  return Object.assign(scene, { book, refresh, reference: () => book.referenceOf('ETH') })
}

const at = (price: bigint, freshForMs = 60_000): Outcome => ({ price, freshForMs })

test('the reference uses every live source', async () => {
  const [a, b, c] = [createTestSource('a'), createTestSource('b'), createTestSource('c')]
  const scene = createScene(a, b, c)
  Object.assign(a, { answer: at(1_000n) })
  Object.assign(b, { answer: at(1_010n) })
  Object.assign(c, { answer: new Error('down') })

  await scene.refresh()

  expect(scene.reference()).toMatchObject({ price: 1_005n })
  expect(scene.book.feedsOf('ETH')).toEqual([
    { feed: 'a feed', price: 1_000n },
    { feed: 'b feed', price: 1_010n },
    { feed: 'c', problem: 'silent' },
  ])
  expect(scene.book.referenceOf('BTC')).toEqual({ unavailable: 'tooFew' })
})

test('readings of a silent source expire after ten seconds', async () => {
  const a = createTestSource('a')
  const scene = createScene(a)
  a.answer = at(1_000n)
  await scene.refresh()
  a.answer = new Error('down')

  scene.now += 9_999
  await scene.refresh()
  expect(scene.reference()).toMatchObject({ price: 1_000n })

  scene.now += 1
  expect(scene.reference()).toEqual({ unavailable: 'tooFew' })
})

test('a price is not used beyond its own age limit, however often it is read', async () => {
  const a = createTestSource('a')
  const scene = createScene(a)
  a.answer = at(1_000n, 3_000)
  await scene.refresh()

  scene.now += 2_999
  expect(scene.reference()).toMatchObject({ price: 1_000n })
  scene.now += 1
  expect(scene.book.feedsOf('ETH')).toEqual([{ feed: 'a feed', problem: 'stale' }])
})

test('a source on a halted chain is not live', async () => {
  const [alpha, beta] = [createTestSource('alpha', { chainId: 1 }), createTestSource('beta', { chainId: 2 })]
  const scene = createScene(alpha, beta)
  alpha.answer = at(1_000n)
  beta.answer = at(2_000n)
  await scene.refresh()
  expect(scene.reference()).toEqual({ unavailable: 'disagree' })

  scene.stopped.add(1)
  scene.now += 5

  expect(scene.reference()).toMatchObject({ price: 2_000n })
  expect(scene.book.feedsOf('ETH')[0]).toEqual({ feed: 'alpha', problem: 'chainStopped' })
})

test('a late answer does not replace a newer one', async () => {
  const a = createTestSource('a')
  const scene = createScene(a)
  let finish: (outcome: Outcome) => void = () => {}
  a.answer = new Promise<Outcome>((resolve) => {
    finish = resolve
  })
  const slow = scene.refresh()
  a.answer = at(2_000n)
  await scene.refresh()

  finish(at(1_000n))
  await slow

  expect(scene.reference()).toMatchObject({ price: 2_000n })
})

test('a source is read at most at its interval, and its outage is reported once', async () => {
  const a = createTestSource('a', { minIntervalMs: 2_000 })
  const scene = createScene(a)
  a.answer = new Error('down')

  for (let step = 0; step < 9; step += 1) {
    expect(await scene.refresh()).toEqual([false])
    scene.now += 500
  }
  expect([a.reads, scene.faults]).toEqual([3, ['a']])

  scene.now += 2_000
  a.answer = at(1_000n)
  expect(await scene.refresh()).toEqual([true])
  scene.now += 2_000
  a.answer = new Error('down again')
  await scene.refresh()
  expect(scene.faults).toEqual(['a', 'a'])
})

test('each change of state is reported once, with the state of every feed', async () => {
  const [a, b] = [createTestSource('a'), createTestSource('b')]
  const scene = createScene(a, b)
  const changes: PriceChange[] = []
  const look = createPriceWatch(scene.book, (change) => changes.push(change))
  const step = async (first: TestAnswer, second: TestAnswer) => {
    Object.assign(a, { answer: first })
    Object.assign(b, { answer: second })
    await scene.refresh()
    look()
    look()
  }

  await step(at(1_000n), at(1_001n))
  await step(at(1_000n), at(1_100n))
  await step({ problem: 'stale' }, { problem: 'notPositive' })
  await step(at(1_000n), { problem: 'stale' })

  expect(changes.map(({ state }) => state)).toEqual(['disagree', 'tooFew', 'available'])
  expect(changes[0]).toEqual({
    asset: 'ETH',
    state: 'disagree',
    feeds: [
      { feed: 'a feed', price: 1_000n },
      { feed: 'b feed', price: 1_100n },
    ],
  })
})
