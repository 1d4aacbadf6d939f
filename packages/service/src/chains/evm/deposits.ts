import { type Address, erc20Abi, getAbiItem, type PublicClient, zeroAddress } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Block, Held } from '../chain.ts'
import { readBalance } from './reads.ts'

const TRANSFER = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
// A range that every public node answers in one piece.
const MAX_RANGE = 2_000n

/** The balances at the addresses of these ops, by op hash, without those of 0. */
export async function readDeposits(
  client: PublicClient,
  tokens: readonly string[],
  ops: readonly Op[],
  { number: blockNumber }: Pick<Block, 'number'>,
): Promise<Map<string, Held[]>> {
  const read = async (op: Op): Promise<[string, Held[]]> => {
    const owner = op.depositAddress as Address
    const held = await Promise.all(
      tokens.map(async (token) => {
        const amount = await readBalance(client, { owner, token: token as Address, blockNumber })
        return { token, amount }
      }),
    )
    return [op.hash, held.filter(({ amount }) => amount > 0n)]
  }
  return new Map(await Promise.all(ops.map(read)))
}

/** The last transfer of the input to the op's address; undefined for the native coin, which logs none. */
export async function findDepositTx(
  client: PublicClient,
  { inputToken, depositAddress, originBlock }: Op,
  { number }: Pick<Block, 'number'>,
): Promise<string | undefined> {
  if (inputToken === zeroAddress || !depositAddress) return undefined
  const query = {
    address: inputToken as Address,
    event: TRANSFER,
    args: { to: depositAddress as Address },
  } as const
  for (let to = number; to >= originBlock; to -= MAX_RANGE) {
    const from = to - MAX_RANGE + 1n > originBlock ? to - MAX_RANGE + 1n : originBlock
    const logs = await client.getLogs({ ...query, fromBlock: from, toBlock: to })
    const last = logs.at(-1)
    if (last) return last.transactionHash
  }
  return undefined
}
