import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Heads } from '../../chains/chain.ts'
import { defaultDeadlines } from '../../config.ts'
import { awaitExpiry } from './rebuild.ts'

// The latest inclusion of a lock, counted from the build of its op.
const lockSeconds = defaultDeadlines.opLifeSeconds + defaultDeadlines.lockInclusionSeconds

type Chain = { chainId: number; secondsPerLook: number; expiry?: bigint; ways?: object }

/** A chain that advances by this many seconds between two reads, with one height per second. */
function startChain({ chainId, secondsPerLook, expiry, ways }: Chain) {
  const chain = { looks: 0, chainId }
  const readHeads = async (): Promise<Heads> => {
    const seconds = chain.looks * secondsPerLook
    chain.looks += 1
    const block = { number: 0n, height: BigInt(seconds), hash: '', seconds }
    return { head: block, settle: block, hard: block }
  }
  return { counted: chain, chain: { chainId, readHeads, ways }, recovery: { expiryOf: () => expiry } }
}

async function lookAt(chains: ReturnType<typeof startChain>[]) {
  const said: string[] = []
  let waits = 0
  await awaitExpiry({
    chains: stub<Parameters<typeof awaitExpiry>[0]['chains']>(chains),
    deadlines: defaultDeadlines,
    say: (line) => said.push(line),
    wait: async () => {
      waits += 1
    },
  })
  return { said, waits }
}

test('all chains are waited for in parallel: the slowest determines the duration', async () => {
  const slow = startChain({ chainId: 1, secondsPerLook: lockSeconds / 10 })
  const quick = startChain({ chainId: 2, secondsPerLook: lockSeconds / 5 })

  const { said, waits } = await lookAt([slow, quick])

  // One read for the head, then one per wait until the time has passed.
  expect([slow.counted.looks, quick.counted.looks]).toEqual([1 + 11, 1 + 6])
  expect(waits).toBe(10)
  expect(said).toHaveLength(2)
})

test('where signatures expire by height, that height has to be final', async () => {
  const chain = startChain({ chainId: 3, secondsPerLook: 1, expiry: 4n })

  const { said, waits } = await lookAt([chain])

  expect(waits).toBe(4)
  expect(said).toEqual(['chain 3: waiting until height 4 is final'])
})

test('where an input may be a deposit, its op has to be over: it lives longer than a signed one', async () => {
  const chain = startChain({ chainId: 4, secondsPerLook: 100, ways: {} })

  const { said } = await lookAt([chain])

  const seconds = defaultDeadlines.depositSeconds + defaultDeadlines.lockInclusionSeconds
  expect(said).toEqual([`chain 4: waiting until ${new Date(seconds * 1_000).toISOString()} is final`])
  expect(chain.counted.looks).toBe(1 + Math.floor(seconds / 100) + 1)
})
