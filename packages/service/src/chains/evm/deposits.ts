import {
  type Address,
  erc20Abi,
  getAbiItem,
  getAddress,
  type Hex,
  isAddressEqual,
  type PublicClient,
  parseEventLogs,
  zeroAddress,
} from 'viem'
import type { Op } from '../../swap/swap.ts'
import type { Block, DepositTransfer, DepositTransfers, Held } from '../chain.ts'
import { attempt } from './attempt.ts'
import { readBalance } from './reads.ts'

const TRANSFER = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
// A range that every public node answers in one piece.
const MAX_RANGE = 2_000n
// A whole block each. More lie between two looks only after an outage.
const MAX_BLOCKS = 50n

/**
 * The balances at the addresses of these ops, by op hash, without those of 0 and of tokens that do not tell. An op of
 * which no token tells is left out.
 */
export async function readDeposits(
  client: PublicClient,
  tokens: readonly string[],
  ops: readonly Op[],
  { number: blockNumber }: Pick<Block, 'number'>,
): Promise<Map<string, Held[]>> {
  const readOne = async (op: Op): Promise<[string, Held[]] | undefined> => {
    const owner = op.depositAddress as Address
    const held = await Promise.all(
      tokens.map(async (token) => {
        const asked = { owner, token: token as Address, blockNumber }
        const told = await attempt(client, () => readBalance(client, asked), blockNumber)
        return told.kind === 'ok' ? [{ token, amount: told.result }] : []
      }),
    )
    const told = held.flat()
    return told.length === 0 ? undefined : [op.hash, told.filter(({ amount }) => amount > 0n)]
  }
  const read = await Promise.all(ops.map(readOne))
  return new Map(read.filter((each) => each !== undefined))
}

type Looked = { since: bigint | undefined; at: Pick<Block, 'number'> }

/**
 * The last transaction that sent the input to the op's address. Native coin logs nothing: its sender is looked for in
 * the blocks since the last look, and one that is a contract leaves no transaction to the address.
 */
export function findDepositTx(client: PublicClient, op: Op, looked: Looked): Promise<string | undefined> {
  return op.inputToken === zeroAddress ? findCoinTx(client, op, looked) : findTokenTx(client, op, looked)
}

/** The transfers of the input to the op's address: of native coin those of transactions in these blocks. */
export async function findDepositTransfers(
  client: PublicClient,
  op: Op,
  looked: Looked,
): Promise<DepositTransfers> {
  const transfers: DepositTransfer[] = []
  if (op.inputToken === zeroAddress) {
    for await (const { hash, from, value } of coinPayments(client, op, looked))
      transfers.push({ id: hash, from: getAddress(from), amount: value })
    return { transfers, isWhole: coinRange(op, looked).isWhole }
  }
  for await (const log of tokenPayments(client, op, looked)) transfers.push(toTransfer(log))
  return { transfers, isWhole: true }
}

type TransferLog = {
  transactionHash: string
  logIndex: number
  args: { from: Address; value: bigint }
}

const toTransfer = ({ transactionHash, logIndex, args }: TransferLog): DepositTransfer => ({
  id: `${transactionHash}/${logIndex}`,
  from: getAddress(args.from),
  amount: args.value,
})

/**
 * The transfers of a token to the op's address before this transaction took the input from there: of this transaction
 * alone, if they are the input.
 */
export async function findTakenTransfers(
  client: PublicClient,
  op: Op,
  lock: string,
): Promise<DepositTransfer[]> {
  const { logs, blockNumber } = await client.getTransactionReceipt({ hash: lock as Hex })
  const at = op.depositAddress as Address
  const moved = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs }).filter(({ address }) =>
    isAddressEqual(address, op.inputToken as Address),
  )
  const taken = moved.find(({ args }) => isAddressEqual(args.from, at))
  const isBefore = (log: { blockNumber: bigint; logIndex: number }) =>
    taken !== undefined && (log.blockNumber < blockNumber || log.logIndex < taken.logIndex)
  const pulled = moved.filter((log) => isAddressEqual(log.args.to, at) && isBefore(log))
  const sum = pulled.reduce((before, { args }) => before + args.value, 0n)
  if (sum >= op.inputAmount) return pulled.map(toTransfer)
  const transfers: DepositTransfer[] = []
  for await (const log of tokenPayments(client, op, { since: undefined, at: { number: blockNumber } }))
    if (isBefore(log)) transfers.push(toTransfer(log))
  return transfers
}

async function findTokenTx(client: PublicClient, op: Op, looked: Looked): Promise<string | undefined> {
  for await (const { transactionHash } of tokenPayments(client, op, looked)) return transactionHash
}

async function findCoinTx(client: PublicClient, op: Op, looked: Looked): Promise<string | undefined> {
  for await (const { hash } of coinPayments(client, op, looked)) return hash
}

/** The newest first. */
async function* tokenPayments(client: PublicClient, op: Op, { at }: Looked) {
  const query = {
    address: op.inputToken as Address,
    event: TRANSFER,
    args: { to: op.depositAddress as Address },
    strict: true,
  } as const
  for (let to = at.number; to >= op.originBlock; to -= MAX_RANGE) {
    const from = to - MAX_RANGE + 1n > op.originBlock ? to - MAX_RANGE + 1n : op.originBlock
    const logs = await client.getLogs({ ...query, fromBlock: from, toBlock: to })
    // Anyone can log a transfer of nothing.
    yield* logs.filter(({ args }) => args.value > 0n).reverse()
  }
}

/** The newest first. */
async function* coinPayments(client: PublicClient, op: Op, looked: Looked) {
  const { depositAddress } = op
  const { before } = coinRange(op, looked)
  for (let blockNumber = looked.at.number; blockNumber > before; blockNumber -= 1n) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true })
    yield* transactions
      .filter(({ to, value }) => value > 0n && to?.toLowerCase() === depositAddress?.toLowerCase())
      .reverse()
  }
}

function coinRange({ originBlock }: Op, { since, at: { number } }: Looked) {
  // After a reorg the head may be below the last one.
  const known = since !== undefined && since < number ? since : originBlock
  const isWhole = known >= number - MAX_BLOCKS
  return { before: isWhole ? known : number - MAX_BLOCKS, isWhole }
}
