import { encodeAbiParameters, encodeEventTopics, erc20Abi, type PublicClient, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Op } from '../../swap/swap.ts'
import { findDepositTransfers, findTakenTransfers } from './deposits.ts'

type Hex = `0x${string}`

const op = stub<Op>({ inputToken: zeroAddress, depositAddress: '0xaddress', originBlock: 100n })

test.each<[bigint | undefined, bigint, number, boolean]>([
  [undefined, 150n, 50, true],
  [undefined, 151n, 50, false],
  [198n, 200n, 2, true],
  [150n, 201n, 50, false],
  [140n, 130n, 30, true],
])(
  'a look for coin since %s at block %s reads %s blocks; that is all: %s',
  async (since, number, count, isWhole) => {
    const read: bigint[] = []
    const client = stub<PublicClient>({
      async getBlock({ blockNumber }: { blockNumber: bigint }) {
        read.push(blockNumber)
        return { transactions: [] }
      },
    })

    expect(await findDepositTransfers(client, op, { since, at: { number } })).toEqual({
      transfers: [],
      isWhole,
    })
    expect([read.length, read[0]]).toEqual([count, number])
  },
)

describe('the money that a lock takes', () => {
  const addressOf = (digit: number) => `0x${String(digit).repeat(40)}` as const
  const [token, at, wallet, other, escrow] = [1, 2, 3, 4, 5].map(addressOf) as [Hex, Hex, Hex, Hex, Hex]
  const paid = stub<Op>({ inputToken: token, depositAddress: at, inputAmount: 10n, originBlock: 1n })
  const logOf = (from: Hex, to: Hex, { logIndex = 0, block = 9n, value = 10n, address = token } = {}) => ({
    ...{ address, logIndex, blockNumber: block, transactionHash: block === 9n ? '0xlock' : '0xother' },
    topics: encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from, to } }),
    data: encodeAbiParameters([{ type: 'uint256' }], [value]),
    args: { from, to, value },
  })
  type Log = ReturnType<typeof logOf>
  const find = (inLock: readonly Log[], before: readonly Log[] = []) => {
    const client = stub<PublicClient>({
      getTransactionReceipt: async () => ({ blockNumber: 9n, logs: inLock }) as never,
      getLogs: async () => before as never,
    })
    return findTakenTransfers(client, paid, '0xlock')
  }
  const taken = logOf(at, escrow, { logIndex: 5 })
  const senders = (found: readonly { from: string }[]) => found.map(({ from }) => from)

  test('is what it pulls from the wallet, without a look at other blocks', async () => {
    const pulled = logOf(wallet, at, { logIndex: 4 })

    expect(await find([pulled, taken])).toEqual([{ id: '0xlock/4', from: wallet, amount: 10n }])
  })

  test('is else what lay there before, and nothing that came later in its block', async () => {
    const before = [
      logOf(other, at, { logIndex: 8, block: 8n }),
      logOf(wallet, at, { logIndex: 3 }),
      logOf(escrow, at, { logIndex: 6 }),
    ]

    expect(senders(await find([taken], before))).toEqual([wallet, other])
  })

  test('is not what another token says, and unknown if the lock does not tell', async () => {
    const strange = [
      logOf(wallet, at, { address: other }),
      logOf(at, escrow, { address: other, logIndex: 9 }),
    ]

    expect(await find(strange, [logOf(other, at, { block: 8n })])).toEqual([])
  })
})
