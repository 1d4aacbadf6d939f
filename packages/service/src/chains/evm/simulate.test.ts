import { createPublicClient, custom, encodeErrorResult, type Hex, parseAbi, RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { refusalOf } from './refused.ts'

const abi = parseAbi(['function give()', 'error CapReached()'])
const capReached = encodeErrorResult({ abi, errorName: 'CapReached' })

/** The refusal in the error of a call that the node answers so. */
async function refusalIn(error: { code: number; message: string; data?: Hex }): Promise<string | undefined> {
  const request = async () => {
    throw new RpcRequestError({ body: {}, url: 'http://node', error })
  }
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  const call = { address: `0x${'1'.repeat(40)}`, abi, functionName: 'give' } as const
  return client.simulateContract(call).then(() => expect.unreachable('The node fails'), refusalOf)
}

test.each([3, -32_603])('an error of the contract is known by its name, with code %i', async (code) => {
  const reverted = { code, message: 'execution reverted', data: capReached }

  expect(await refusalIn(reverted)).toBe('CapReached')
})

// Nodes differ in the code of a revert without data.
test.each([
  [3, 'execution reverted'],
  [-32_000, 'execution reverted'],
  [-32_603, 'VM Exception while processing transaction: revert'],
  [-32_603, 'Transaction reverted without a reason string'],
])('a contract that reverts without a name refuses: %i %s', async (code, message) => {
  expect(await refusalIn({ code, message })).toBe('')
})

test.each([
  [-32_603, 'Internal error'],
  [-32_603, 'header not found'],
  [-32_000, 'header not found'],
  [-32_005, 'limit exceeded'],
  [3, 'too many requests'],
])('a node that fails is no refusal of the contract: %i %s', async (code, message) => {
  expect(await refusalIn({ code, message })).toBeUndefined()
})

test('an error from elsewhere is no refusal', () => {
  expect(refusalOf(new Error('execution reverted'))).toBeUndefined()
})
