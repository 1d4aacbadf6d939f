import { type PublicClient, RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { createEvmCustody } from './custody.ts'

const refusal = new RpcRequestError({
  ...{ body: { method: 'eth_getLogs' }, url: 'http://node' },
  error: { code: -32_005, message: 'query returned more than 10000 results' },
})

test('the books go on with a node that answers fewer blocks than two readings share', async () => {
  const getLogs = async ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
    if (toBlock - fromBlock + 1n > 5n) throw refusal
    return []
  }
  const agreed = stub<PublicClient>({ getLogs })
  const settings = { chainId: 1, escrow: '0xe5', vault: '0xa7', tokens: [], lockers: [] } as const
  const custody = createEvmCustody({ clients: { client: agreed, agreed }, settings, locks: [] })

  const hard = { number: 200n, height: 200n, hash: '0x', seconds: 0 }
  const { block } = await custody.readCustody(100n, hard)

  expect(block).toBeGreaterThan(100n)
})
