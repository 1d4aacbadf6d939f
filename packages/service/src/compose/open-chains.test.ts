import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { ConnectedChain } from '../chains/families.ts'
import type { Findings } from '../chains/findings.ts'
import { guarded } from '../chains/gate.ts'
import { createLogger } from '../observe/logger.ts'
import { openChains } from './open-chains.ts'

const logger = createLogger({ level: 'silent' })
const fine: Findings = { problems: [], warnings: [] }
const wrong: Findings = { problems: ['beta: there is no vault'], warnings: [] }
const silent = () => Promise.reject(new Error('connection refused'))

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Answer = () => Promise<Findings>

/** A chain with these answers to its successive verifications. */
function chainOf(name: string, ...answers: Answer[]): ConnectedChain {
  const [last = silent] = answers.slice(-1)
  const verify = () => (answers.shift() ?? last)()
  return stub<ConnectedChain>({ config: { name, chainId: 5 }, verify, gate: { isOpen: true } })
}

const ok: Answer = async () => fine
const bad: Answer = async () => wrong

test('a chain that does not answer stays closed until it is verified, and the others are served', async () => {
  const [alpha, beta] = [chainOf('alpha', ok), chainOf('beta', silent, silent, ok)]

  const opening = await openChains({ all: [alpha, beta] }, { logger })
  const seen = [[alpha.gate.isOpen, beta.gate.isOpen]]
  for (let retry = 0; retry < 2; retry += 1) {
    await vi.advanceTimersByTimeAsync(5_000)
    seen.push([alpha.gate.isOpen, beta.gate.isOpen])
  }
  opening.stop()

  expect(seen).toEqual([
    [true, false],
    [true, false],
    [true, true],
  ])
})

test('a chain that differs from the file stays closed until it is right, and the others are served', async () => {
  const [alpha, beta] = [chainOf('alpha', ok), chainOf('beta', bad, bad, ok)]

  const opening = await openChains({ all: [alpha, beta] }, { logger })
  const seen = [[alpha.gate.isOpen, beta.gate.isOpen]]
  for (let retry = 0; retry < 2; retry += 1) {
    await vi.advanceTimersByTimeAsync(5_000)
    seen.push([alpha.gate.isOpen, beta.gate.isOpen])
  }
  opening.stop()

  expect(seen).toEqual([
    [true, false],
    [true, false],
    [true, true],
  ])
})

test('the start fails if no chain can be served, with all reasons', async () => {
  const all = [chainOf('alpha', silent), chainOf('beta', bad)]

  await expect(openChains({ all }, { logger })).rejects.toThrow(
    'No chain can be served:\n- alpha: connection refused\n- beta: there is no vault',
  )
})

test('a token is closed and opened again beside the others, and an open chain stays open', async () => {
  const closed = [{ token: '0x1', why: 'beta: the token at 0x1 has the symbol NEW, not OLD' }]
  const renamed: Answer = async () => ({ ...fine, closed })
  const beta = chainOf('beta', renamed, silent, bad, ok)
  const seen: unknown[] = []
  const prepare = async (_: ConnectedChain, found: readonly unknown[]) => void seen.push(found)

  const opening = await openChains({ all: [beta] }, { logger, prepare })
  await vi.advanceTimersByTimeAsync(3 * 300_000)
  opening.stop()

  expect(seen).toEqual([closed, []])
  expect(beta.gate.isOpen).toBe(true)
})

test('a chain that answers later and differs from the configuration stays closed', async () => {
  const beta = chainOf('beta', silent, bad)

  const opening = await openChains({ all: [chainOf('alpha', ok), beta] }, { logger })
  await vi.advanceTimersByTimeAsync(20_000)
  opening.stop()

  expect(beta.gate.isOpen).toBe(false)
})

test('a chain with unknown transactions of our keys stops the start, or stays closed', async () => {
  const findLost = async ({ config }: ConnectedChain) => (config.name === 'beta' ? ['0x1 on beta'] : [])
  const alpha = chainOf('alpha', ok)
  const beta = chainOf('beta', silent, ok)

  await expect(openChains({ all: [alpha, chainOf('beta', ok)] }, { logger, findLost })).rejects.toThrow(
    'lacks transactions of these keys: 0x1 on beta',
  )
  const opening = await openChains({ all: [alpha, beta] }, { logger, findLost })
  await vi.advanceTimersByTimeAsync(20_000)
  opening.stop()

  expect(beta.gate.isOpen).toBe(false)
})

test('a chain is served only once the process has read what it needs of it', async () => {
  const beta = chainOf('beta', ok)
  const answers = [silent, silent, async () => {}]
  const prepare = async ({ config }: ConnectedChain) => {
    if (config.name === 'beta') await answers.shift()?.()
  }

  const opening = await openChains({ all: [chainOf('alpha', ok), beta] }, { logger, prepare })
  const seen = [beta.gate.isOpen]
  for (let retry = 0; retry < 2; retry += 1) {
    await vi.advanceTimersByTimeAsync(5_000)
    seen.push(beta.gate.isOpen)
  }
  opening.stop()

  expect(seen).toEqual([false, false, true])
})

test('a closed chain answers every call with 503 CHAIN_UNAVAILABLE', () => {
  const gate = { isOpen: false }
  const chain = guarded({ maxBatch: 20, isOver: () => true }, gate, { chainId: 5, name: 'beta' })

  expect(chain.maxBatch).toBe(20)
  expect(() => chain.isOver()).toThrow(expect.objectContaining({ code: 'CHAIN_UNAVAILABLE' }))
  gate.isOpen = true
  expect(chain.isOver()).toBe(true)
})
