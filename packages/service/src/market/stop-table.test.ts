import { expect, test } from 'vitest'
import type { QuoteStop } from '../swap/stop.ts'
import { createStopTable } from './stop-table.ts'

const stopOf = (id: string): QuoteStop => ({
  id,
  why: 'operator',
  scope: { kind: 'part', chainId: 1 },
  note: 'test',
  by: 'test',
  since: new Date(0),
})
const side = { chainId: 1, token: '0x0', asset: 'ETH' }

test('a read that ends after a newer one does not restore its older result', async () => {
  const answers: ((stops: QuoteStop[]) => void)[] = []
  const table = createStopTable({
    findActiveStops: () => new Promise((resolve) => answers.push(resolve)),
    onError: () => {},
  })

  const [early, late] = [table.refresh(), table.refresh()]
  answers[1]?.([])
  await late
  answers[0]?.([stopOf('1')])
  await early

  expect(table.ofSwap({ from: side, to: { ...side, chainId: 2 } })).toBeUndefined()
})

test('a stop of one asset does not stop its chain', async () => {
  const scope = { kind: 'part', chainId: 1, asset: 'ETH' } as const
  const table = createStopTable({
    findActiveStops: async () => [{ ...stopOf('1'), scope }],
    onError: () => {},
  })
  await table.refresh()

  expect(table.ofSide({ chainId: 1 })).toBeUndefined()
  expect(table.ofSide({ chainId: 1, asset: 'ETH' })?.id).toBe('1')
})
