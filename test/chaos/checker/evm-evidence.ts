import {
  type Address,
  createPublicClient,
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  type PublicClient,
  parseAbi,
  parseEventLogs,
  TransactionReceiptNotFoundError,
  zeroAddress,
} from 'viem'
import { mapConcurrently } from './concurrency.ts'
import { type ChainSetup, nodeOf } from './input.ts'

// Repeated here from the contracts' sources: the checker does not trust generated ABIs.
const events = parseAbi([
  'event Locked(bytes32 indexed op)',
  'event Claimed(bytes32 indexed op)',
  'event Refunded(bytes32 indexed op)',
  'event Recovered(bytes32 indexed op, address indexed token, uint256 amount)',
  'event Credited(address indexed owner, address indexed token, uint256 amount)',
  'event Delivered(bytes32 indexed delivery, uint256 amount)',
])
const views = parseAbi([
  'function slot(address locker, uint256 position) view returns (uint256)',
  'function ringOf(address locker) view returns (bytes32)',
  'function lastRounds(bytes32[] rings, uint256[] positions) view returns (uint256[])',
  'function caps(address token) view returns (uint256 limitPerHour, uint256 spentThisHour)',
  'function credits(address owner, address token) view returns (uint256)',
])

export type OpEventKind = 'lock' | 'claim' | 'refund' | 'deliver' | 'recover'
/** A permanent event of an op on a chain: `id` is the hash of the op, or of its delivery. */
export type OpEvent = {
  kind: OpEventKind
  id: string
  chainId: number
  txHash: string
  block: number
  amount?: bigint
}

export type EvmEvidence = {
  chain: ChainSetup
  client: PublicClient
  opEvents: OpEvent[]
  balanceOf(owner: string, token: string, block?: number): Promise<bigint>
  creditOf(owner: string, token: string): Promise<bigint>
  supplyOf(token: string): Promise<bigint>
  blockAt(number: number): Promise<{ hash: string; seconds: number }>
  codeOf(address: string): Promise<string>
  nonceAt(address: string, block: number): Promise<number>
  /** The escrow's word for a position at a block. */
  slotAt(locker: string, position: bigint, block: number): Promise<bigint>
  lastRoundAt(ring: Hex, position: bigint, block: number): Promise<bigint>
  ringOf(locker: string): Promise<Hex>
  hasSucceeded(txHash: string): Promise<boolean>
  /** All that a transaction cost its sender; 0 if no block has it. */
  feeOf(txHash: string): Promise<bigint>
  /** The most that the vault pays of a token in an hour. */
  capOf(token: string): Promise<bigint>
  hourOf(block: number): Promise<bigint>
}

const KINDS: Partial<Record<string, OpEventKind>> = {
  ...{ Locked: 'lock', Claimed: 'claim', Refunded: 'refund', Recovered: 'recover' },
}

/** The canonical chain at rest. */
export async function readEvmEvidence(chain: ChainSetup): Promise<EvmEvidence> {
  const client = createPublicClient({ transport: http(nodeOf(chain), { batch: true }), cacheTime: 0 })
  const { escrow, vault } = chain.contracts as { escrow: Address; vault: Address }
  const logs = await readLogs(client, [escrow, vault])
  const opEvents = parseEventLogs({ abi: events, logs }).flatMap((log): OpEvent[] => {
    const at = { chainId: chain.chainId, txHash: log.transactionHash, block: Number(log.blockNumber) }
    if (log.eventName === 'Delivered')
      return [{ kind: 'deliver', id: log.args.delivery, amount: log.args.amount, ...at }]
    const kind = KINDS[log.eventName]
    const returned = log.eventName === 'Recovered' && { amount: log.args.amount }
    return kind && 'op' in log.args ? [{ kind, id: log.args.op, ...at, ...returned }] : []
  })
  const read = async (address: Address, data: Hex, block?: number): Promise<Hex> =>
    (await client.call({ to: address, data, ...at(block) })).data ?? '0x'
  return {
    ...{ chain, client, opEvents },
    balanceOf: (owner, token, block) =>
      token === zeroAddress
        ? client.getBalance({ address: owner as Address, ...at(block) })
        : client.readContract({
            ...{ address: token as Address, abi: erc20Abi, functionName: 'balanceOf' },
            args: [owner as Address],
            ...at(block),
          }),
    creditOf: (owner, token) =>
      client.readContract({
        ...{ address: escrow, abi: views, functionName: 'credits' },
        args: [owner as Address, token as Address],
      }),
    supplyOf: (token) =>
      client.readContract({ address: token as Address, abi: erc20Abi, functionName: 'totalSupply' }),
    async blockAt(number) {
      const { hash, timestamp } = await client.getBlock({ blockNumber: BigInt(number) })
      return { hash: hash ?? '', seconds: Number(timestamp) }
    },
    codeOf: async (address) => (await client.getCode({ address: address as Address })) ?? '0x',
    nonceAt: (address, block) => client.getTransactionCount({ address: address as Address, ...at(block) }),
    async slotAt(locker, position, block) {
      const args = [locker as Address, position] as const
      const data = await read(escrow, encodeFunctionData({ abi: views, functionName: 'slot', args }), block)
      return decodeFunctionResult({ abi: views, functionName: 'slot', data })
    },
    async lastRoundAt(ring, position, block) {
      const args = [[ring], [position]] as const
      const data = await read(
        vault,
        encodeFunctionData({ abi: views, functionName: 'lastRounds', args }),
        block,
      )
      return decodeFunctionResult({ abi: views, functionName: 'lastRounds', data })[0] ?? 0n
    },
    async capOf(token) {
      const args = [token as Address] as const
      const [limit] = await client.readContract({ address: vault, abi: views, functionName: 'caps', args })
      return limit
    },
    async hourOf(block) {
      return (await client.getBlock({ blockNumber: BigInt(block) })).timestamp / 3_600n
    },
    hasSucceeded: async (txHash) => (await findReceipt(client, txHash))?.status === 'success',
    async feeOf(txHash) {
      const found = await findReceipt(client, txHash)
      if (!found) return 0n
      // OP chains charge it beside the gas.
      const { l1Fee = 0 } = found as { l1Fee?: Hex | bigint | null }
      return found.gasUsed * found.effectiveGasPrice + BigInt(l1Fee ?? 0)
    },
    ringOf: (locker) =>
      client.readContract({ address: escrow, abi: views, functionName: 'ringOf', args: [locker as Address] }),
  }
}

/** Undefined for a transaction that is in no block. */
async function findReceipt(client: PublicClient, hash: string) {
  try {
    return await client.getTransactionReceipt({ hash: hash as Hex })
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  }
}

// No provider refuses a range of this length.
const PAGE = 1_000n

async function readLogs(client: PublicClient, address: Address[]) {
  const head = await client.getBlockNumber()
  const starts = Array.from({ length: Number(head / PAGE) + 1 }, (_, index) => BigInt(index) * PAGE)
  const pages = await mapConcurrently(starts, (fromBlock) =>
    client.getLogs({ address, fromBlock, toBlock: fromBlock + PAGE - 1n }),
  )
  return pages.flat()
}

const at = (block: number | undefined) => (block === undefined ? {} : { blockNumber: BigInt(block) })
