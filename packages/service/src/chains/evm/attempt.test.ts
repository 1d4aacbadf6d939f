import { createPublicClient, custom, encodeErrorResult, type Hex, parseAbi, RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { attempt } from './attempt.ts'

const abi = parseAbi(['function give() returns (bool)', 'error CapReached()'])
const capReached = encodeErrorResult({ abi, errorName: 'CapReached' })
const IDENTITY = `0x${'4'.padStart(40, '0')}`

type Answer = Hex | { code: number; message?: string; data?: Hex }

/** Tries the call at a node that answers it so, and other calls so. */
function tryWith(answer: Answer, other: Answer = '0x01') {
  const request = async ({ params: [{ to }] }: { params: [{ to: string }] }) => {
    const given = to === IDENTITY ? other : answer
    if (typeof given === 'string') return given
    throw new RpcRequestError({ body: {}, url: 'http://node', error: { message: 'failed', ...given } })
  }
  const client = createPublicClient({ transport: custom({ request } as never, { retryCount: 0 }) })
  const call = { address: `0x${'1'.repeat(40)}`, abi, functionName: 'give' } as const
  return attempt(client, async () => (await client.simulateContract(call)).result)
}

test('a call that succeeds has a result', async () => {
  expect(await tryWith(`0x${'1'.padStart(64, '0')}`)).toEqual({ kind: 'ok', result: true })
})

test.each([3, -32_603])('an error of the contract is known by its name, with code %i', async (code) => {
  expect(await tryWith({ code, data: capReached })).toEqual({ kind: 'refused', name: 'CapReached' })
})

test.each<[string, Answer]>([
  ['reverts without a name', { code: 3, data: '0x' }],
  ['reverts with an error of its own', { code: 3, data: '0x12345678' }],
  ['reverts with a text that is none', { code: 3, data: '0x08c379a0ff' }],
  ['reverts as the words of a lagging node', { code: 3, message: 'execution reverted: header not found' }],
])('a contract that %s refuses', async (_, answer) => {
  expect(await tryWith(answer)).toEqual({ kind: 'refused', name: '' })
})

test.each<[string, Answer]>([
  ['answers nothing', '0x'],
  ['answers a word of another type', `0x${'ff'.repeat(32)}`],
  ['answers half a word', '0x1234'],
])('a contract that %s is odd', async (_, answer) => {
  expect(await tryWith(answer)).toEqual({ kind: 'odd' })
})

// Nodes differ in the code of a call that runs out of gas, or into an invalid instruction.
test.each([-32_000, -32_015, -32_603])(
  'a failed call with code %i is refused if the node answers another one, and no answer if it does not',
  async (code) => {
    expect(await tryWith({ code })).toEqual({ kind: 'refused', name: '' })
    await expect(tryWith({ code }, { code })).rejects.toThrow()
  },
)

test('a call that runs out of gas is refused, and is not repeated', async () => {
  const exhausted = { code: -32_000, message: 'out of gas' }

  expect(await tryWith(exhausted, exhausted)).toEqual({ kind: 'refused', name: '' })
})

test.each([-32_005, -32_001, 429])('a node that fails with code %i refuses nothing', async (code) => {
  await expect(tryWith({ code })).rejects.toThrow('failed')
})

test('an error that is not of a node stays one', async () => {
  const client = { call: () => expect.unreachable() }

  await expect(attempt(client, () => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug')
})
