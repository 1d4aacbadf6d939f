import { expect, test } from 'vitest'
import { UsageError } from '../command.ts'
import { inspectSwaps, toFilter } from './swaps.ts'

const EVM = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

test.each([
  [EVM.toLowerCase(), EVM],
  [EVM, EVM],
  [SOLANA, SOLANA],
])('the wallet %s matches in every notation', (given, stored) => {
  expect(toFilter({ wallet: given })).toEqual({ limit: 20, wallet: stored })
})

test.each(['0x12', 'me', EVM.replace('fCD', 'Fcd'), SOLANA.slice(12), ''])('%j is not a wallet', (wallet) => {
  expect(() => toFilter({ wallet })).toThrow(UsageError)
})

const unexpected = () => {
  throw new Error('unexpected output')
}

test.each(['list foo', 'lost foo', 'show', 'show 1 2', 'fly'])('"swaps %s" is refused', async (line) => {
  const refused = inspectSwaps(line.split(' '), { DATABASE_URL: 'x' }, { out: unexpected, hint: unexpected })

  await expect(refused).rejects.toThrow(UsageError)
})
