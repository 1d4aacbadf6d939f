import { InsufficientFundsError } from 'viem'
import { expect, test } from 'vitest'
import { orNodeFailed } from './node.ts'

const chain = { chainId: 1, name: 'alpha' }
const failed = (cause: Error) => orNodeFailed(chain, Promise.reject(new Error('viem', { cause })))

test('a wallet without gas coin is not taken for a node that does not answer', async () => {
  await expect(failed(new InsufficientFundsError())).rejects.toMatchObject({ code: 'NEEDS_GAS' })
  await expect(failed(new Error('timeout'))).rejects.toMatchObject({ code: 'NODE_FAILED' })
})
