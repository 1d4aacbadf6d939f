import { expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { parseNetwork } from './network-file.ts'

const EVM = '0x9000000000000000000000000000000000000009'
const base = { chainId: 8453, low: '0.02', target: '0.1', maxPerDay: '0.5' }

function problemsOf(gasFloat: object): string[] {
  const text = JSON.stringify({ ...JSON.parse(NETWORK_TEXT), gasFloat })
  return parseNetwork(text).problems.map(({ path, message }) => `${path} ${message}`)
}

test('a valid gas float has no problem', () => {
  expect(problemsOf({ evm: EVM, chains: [base] })).toEqual([])
})

test('a gas float address of a family without a chain is a problem', () => {
  const { chains, ...rest } = JSON.parse(NETWORK_TEXT)
  const gasFloat = { evm: EVM, solana: '7ZgX6RKtGf9pPZ3FkLkAtVgRkUFQCcMdBbBPtPYtKN5w', chains: [base] }
  const text = JSON.stringify({ ...rest, venues: undefined, chains: chains.slice(0, 1), gasFloat })

  expect(parseNetwork(text).problems).toMatchObject([
    { path: '/gasFloat/solana', message: 'no chain of family solana is configured' },
  ])
})

test.each([
  ['an unknown chain', { evm: EVM, chains: [{ ...base, chainId: 7 }] }, 'no chain 7 is configured'],
  ['no address of the family', { chains: [base] }, 'gasFloat has no evm address'],
  ['a target at its low mark', { evm: EVM, chains: [{ ...base, target: '0.02' }] }, 'must be above low'],
  ['a limit below one top-up', { evm: EVM, chains: [{ ...base, maxPerDay: '0.09' }] }, 'at least target'],
  ['a low mark of nothing', { evm: EVM, chains: [{ ...base, low: '0' }] }, 'must be above 0'],
  ['a chain twice', { evm: EVM, chains: [base, base] }, 'is repeated'],
  [
    'the address of a relayer',
    { evm: '0x1000000000000000000000000000000000000001', chains: [base] },
    'is already a relayer',
  ],
])('%s is a problem of a gas float', (_, gasFloat, message) => {
  expect(problemsOf(gasFloat).join('\n')).toContain(message)
})
