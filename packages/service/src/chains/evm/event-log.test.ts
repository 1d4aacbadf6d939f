import { expect, test } from 'vitest'
import type { Heads } from '../chain.ts'
import { type ChainEvent, createEventLog } from './event-log.ts'

const HARD_DEPTH = 3n

function headsAt(number: bigint): Heads {
  const block = (at: bigint) => ({ number: at, height: at, hash: `0x${at}`, seconds: Number(at) })
  const hard = number > HARD_DEPTH ? number - HARD_DEPTH : 0n
  return { head: block(number), accept: block(number), settle: block(number), hard: block(hard) }
}

const locked = (id: string, block: bigint): ChainEvent => ({ kind: 'locked', id, txHash: `0x${id}`, block })

function createChain() {
  const events: ChainEvent[] = []
  return {
    events,
    async readEvents({ from, to }: { from: bigint; to: bigint }) {
      return events.filter(({ block }) => block >= from && block <= to)
    },
  }
}

test('an event is found as soon as its block is the head', async () => {
  const chain = createChain()
  const log = createEventLog(chain.readEvents)
  chain.events.push(locked('a', 10n))

  await log.advance(headsAt(10n), 8n)

  expect(await log.find('locked', 'a', 8n)).toMatchObject({ block: 10n })
})

test('an event that a reorg undid is forgotten, and found again where it lands', async () => {
  const chain = createChain()
  const log = createEventLog(chain.readEvents)
  chain.events.push(locked('a', 10n))
  await log.advance(headsAt(10n), 8n)

  chain.events.length = 0
  await log.advance(headsAt(9n), 8n)
  expect(await log.find('locked', 'a', 8n)).toBeUndefined()
  chain.events.push(locked('a', 11n))
  await log.advance(headsAt(11n), 8n)

  expect(await log.find('locked', 'a', 8n)).toMatchObject({ block: 11n })
})

test('an event that the nodes left out while they were behind is there with the next heads', async () => {
  const chain = createChain()
  const log = createEventLog(chain.readEvents)
  await log.advance(headsAt(10n), 8n)
  await log.advance(headsAt(20n), 8n)

  chain.events.push(locked('a', 12n))
  await log.advance(headsAt(21n), 8n)

  expect(await log.find('locked', 'a', 8n)).toMatchObject({ block: 12n })
})

test('an event that was left out for long is looked for once more when the chain shows that it happened', async () => {
  const chain = createChain()
  const log = createEventLog(chain.readEvents)
  for (const head of [10n, 60n, 61n]) await log.advance(headsAt(head), 8n)

  chain.events.push(locked('a', 12n))
  await log.advance(headsAt(62n), 8n)

  expect(await log.find('locked', 'a', 8n)).toBeUndefined()
  expect(await log.find('locked', 'a', 8n, true)).toMatchObject({ block: 12n })
})

test('an event from before the log began is looked up from where its op began', async () => {
  const chain = createChain()
  const log = createEventLog(chain.readEvents)
  chain.events.push(locked('old', 2n))

  await log.advance(headsAt(100n), 97n)

  expect(await log.find('locked', 'old', 1n)).toMatchObject({ block: 2n })
})

test('an event that was let go is there again for an op that begins to matter later', async () => {
  const chain = createChain()
  const log = createEventLog(chain.readEvents)
  chain.events.push(locked('early', 12n))

  await log.advance(headsAt(20n), 10n)
  await log.advance(headsAt(30n), 25n)
  await log.advance(headsAt(31n), 11n)

  expect(await log.find('locked', 'early', 11n)).toMatchObject({ block: 12n })
})
