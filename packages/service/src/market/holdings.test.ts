import { expect, test } from 'vitest'
import { createEarnedByHolding, toHeld } from '../swap/discount.ts'
import { createHoldings, type HoldingOptions } from './earned.ts'

const SECOND = 1_000
const TOKEN = 10n ** 18n
const tiers = [
  { name: 'bronze', holding: toHeld('1000'), percent: 10 },
  { name: 'silver', holding: toHeld('10000'), percent: 25 },
]

type Answer = bigint | undefined | Error

/** Two EVM chains with different decimals, and Solana. */
function createScene(limits?: HoldingOptions['limits']) {
  let now = 1_000_000
  const balances: Record<string, Answer> = { one: 0n, two: 0n, solana: 0n }
  const asked: string[] = []
  const faults: unknown[] = []
  let gate: Promise<void> | undefined
  let giveUp = () => {}
  const late = new Promise<void>((resolve) => {
    giveUp = resolve
  })
  const source = (name: string, decimals: number) => ({
    decimals,
    readBalance(owner: string) {
      asked.push(`${name} ${owner}`)
      return readLater(balances[name], gate)
    },
  })
  const holdings = createHoldings({
    sourcesOf: (family) => (family === 'evm' ? [source('one', 18), source('two', 6)] : [source('solana', 9)]),
    earnedOf: createEarnedByHolding(tiers),
    maxAgeMs: 60 * SECOND,
    now: () => now,
    wait: (reading) => Promise.race([reading, late]),
    onFault: (error) => faults.push(error),
    ...(limits && { limits }),
  })
  return {
    balances,
    asked,
    faults,
    /** Ends the wait of quotes for a holding. */
    giveUp: () => giveUp(),
    /** The tier that is known now; `waiting` if a quote waits for it. */
    tierOf: (wallet: string, family: 'evm' | 'solana' = 'evm') => {
      const earned = holdings.earnedBy(family, wallet)
      return earned instanceof Promise ? 'waiting' : (earned.tier?.name ?? 'none')
    },
    earnedBy: async (wallet: string) => holdings.earnedBy('evm', wallet),
    pass(ms: number) {
      now += ms
    },
    /** Delays all answers until the returned function is called. */
    silence(): () => void {
      let open = () => {}
      gate = new Promise((resolve) => {
        open = resolve
      })
      return () => {
        gate = undefined
        open()
      }
    },
  }
}

function readLater(answer: Answer, gate: Promise<void> | undefined): Promise<bigint> | undefined {
  if (answer === undefined) return undefined
  return Promise.resolve(gate).then(() => {
    if (answer instanceof Error) throw answer
    return answer
  })
}

/** Lets all pending reads finish. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('the first quote of a wallet has its discount; the next one does not wait', async () => {
  const { balances, tierOf, earnedBy, asked } = createScene()
  balances['one'] = 10_000n * TOKEN

  const first = await earnedBy('w')

  expect(first).toEqual({ tier: tiers[1] })
  expect(asked).toEqual(['one w', 'two w'])
  expect(tierOf('w')).toBe('silver')
})

test('a first quote that waited in vain says so, and so does one that knows a part of the holding', async () => {
  const { balances, earnedBy, silence, giveUp } = createScene()
  Object.assign(balances, { one: 1_000n * TOKEN, two: undefined })
  const speak = silence()
  const waiting = earnedBy('w')
  giveUp()
  expect(await waiting).toEqual({ isUncertain: true })

  speak()
  await settle()

  expect(await earnedBy('w')).toEqual({ tier: tiers[0], isUncertain: true })
})

test('a holding is the exact sum over the chains of the wallet’s family', async () => {
  const { balances, tierOf } = createScene()
  Object.assign(balances, { one: 400n * TOKEN, two: 600_000_000n, solana: 10_000n * 10n ** 9n })
  for (const wallet of ['w', 'x']) tierOf(wallet)
  await settle()
  expect(tierOf('w')).toBe('bronze')

  balances['two'] = 599_999_999n
  tierOf('y')
  tierOf('s', 'solana')
  await settle()

  expect(tierOf('y')).toBe('none')
  expect(tierOf('s', 'solana')).toBe('silver')
})

test('concurrent quotes of one wallet start one read', async () => {
  const { tierOf, asked, silence } = createScene()
  const speak = silence()

  for (let count = 0; count < 10; count += 1) {
    tierOf('w')
    await settle()
  }
  speak()
  await settle()
  tierOf('w')
  await settle()

  expect(asked).toHaveLength(2)
})

test('a holding older than 30 s is used and refreshed; selling ends the discount', async () => {
  const { balances, tierOf, asked, pass } = createScene()
  balances['one'] = 1_000n * TOKEN
  tierOf('w')
  await settle()
  balances['one'] = 999n * TOKEN

  pass(30 * SECOND - 1)
  expect(tierOf('w')).toBe('bronze')
  await settle()
  expect(asked).toHaveLength(2)

  pass(1)
  expect(tierOf('w')).toBe('bronze')
  await settle()
  expect(asked).toHaveLength(4)
  expect(tierOf('w')).toBe('none')
})

test('a holding older than 60 s is not used, even if the node does not answer', async () => {
  const { balances, tierOf, pass, silence } = createScene()
  balances['one'] = 1_000n * TOKEN
  tierOf('w')
  await settle()
  const speak = silence()

  pass(60 * SECOND)
  expect(tierOf('w')).toBe('bronze')
  pass(1)
  expect(tierOf('w')).toBe('waiting')

  speak()
  await settle()
  expect(tierOf('w')).toBe('bronze')
})

test('the age of a holding counts from the request, not from the answer', async () => {
  const { balances, tierOf, pass, silence } = createScene()
  balances['one'] = 1_000n * TOKEN
  const speak = silence()
  tierOf('w')
  await settle()
  pass(61 * SECOND)
  speak()
  await settle()

  expect(tierOf('w')).toBe('waiting')
})

test.each([undefined, new Error('node down')])(
  'while a chain cannot be read (%s), the complete holding is used until it expires, then that of the other chains',
  async (silent) => {
    const { balances, tierOf, pass } = createScene()
    Object.assign(balances, { one: 9_000n * TOKEN, two: 1_000_000_000n })
    tierOf('w')
    await settle()
    balances['one'] = silent

    pass(31 * SECOND)
    tierOf('w')
    await settle()
    expect(tierOf('w')).toBe('silver')

    pass(30 * SECOND)
    tierOf('w')
    await settle()
    expect(tierOf('w')).toBe('bronze')

    balances['one'] = 9_000n * TOKEN
    pass(5 * SECOND)
    tierOf('w')
    await settle()
    expect(tierOf('w')).toBe('silver')
  },
)

test('a failed read is reported, and retried after 5 s', async () => {
  const { balances, tierOf, asked, faults, pass } = createScene()
  Object.assign(balances, { one: new Error('node down'), two: new Error('node down') })
  tierOf('w')
  await settle()
  expect(faults).toHaveLength(2)

  pass(5 * SECOND - 1)
  tierOf('w')
  await settle()
  expect(asked).toHaveLength(2)

  pass(1)
  tierOf('w')
  await settle()
  expect(asked).toHaveLength(4)
})

test('reads and the queue are limited, and a later quote reads the remaining wallets', async () => {
  const { tierOf, asked, silence } = createScene({ reads: 2, waiting: 3 })
  const speak = silence()
  tierOf('w0', 'solana')
  tierOf('w1', 'solana')
  await settle()
  for (const wallet of ['w2', 'w3', 'w4', 'w5']) tierOf(wallet, 'solana')
  await settle()
  expect(asked).toEqual(['solana w0', 'solana w1'])

  speak()
  await settle()
  expect(asked).toHaveLength(5)
  tierOf('w5', 'solana')
  await settle()

  expect(asked.at(-1)).toBe('solana w5')
})

test('the wallet with the oldest read is evicted first', async () => {
  const { balances, tierOf, pass } = createScene({ wallets: 2 })
  balances['one'] = 1_000n * TOKEN
  const quoteAll = async (...wallets: string[]) => {
    for (const wallet of wallets) tierOf(wallet)
    await settle()
  }
  await quoteAll('old', 'mid')
  pass(30 * SECOND)
  await quoteAll('old')
  await quoteAll('new')

  expect([tierOf('old'), tierOf('new'), tierOf('mid')]).toEqual(['bronze', 'bronze', 'waiting'])
})
