import { type PublicClient, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Op } from '../../swap/swap.ts'
import { findDepositTransfers } from './deposits.ts'

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
