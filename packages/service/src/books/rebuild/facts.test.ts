import { expect, test } from 'vitest'
import type { Block } from '../../chains/chain.ts'
import { collectEvents } from './facts.ts'

const blockAt = (number: bigint): Block => ({ number, height: number, hash: '', seconds: 0 })

test('a chain is read to its end, each time for every key that ever sent, replaced ones included', async () => {
  const asked: unknown[] = []
  const chain = {
    chainId: 1,
    async readCustody(after: bigint | undefined, hard: Block, senders?: readonly string[]) {
      asked.push([after, senders])
      const block = (after ?? 0n) + 10n
      const event = { kind: 'locked', op: `${block}`, txHash: `${block}`, block, part: 0 } as const
      return { block: block < hard.number ? block : hard.number, events: [event] }
    },
  }

  const events = await collectEvents(chain, { after: 5n, hard: blockAt(20n), senders: ['replaced'] })

  expect(events.map(({ txHash }) => txHash)).toEqual(['15', '25'])
  expect(asked).toEqual([
    [5n, ['replaced']],
    [15n, ['replaced']],
  ])
})

test('a chain that does not advance is not waited for', async () => {
  const chain = { chainId: 1, readCustody: async () => ({ block: 5n, events: [] }) }
  const reading = collectEvents(chain, { after: 5n, hard: blockAt(20n), senders: [] })

  await expect(reading).rejects.toThrow('Chain 1 does not advance beyond block 5')
})
