import { setTimeout as delay } from 'node:timers/promises'
import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import {
  type Address,
  BaseError,
  type Hex,
  isAddressEqual,
  type Log,
  type PublicClient,
  parseEventLogs,
  RpcRequestError,
  TransactionReceiptNotFoundError,
  toHex,
} from 'viem'
import { toRecoveryId } from '../../swap/deposit.ts'
import { collectError, groupBy } from '../../swap/group.ts'
import type { ChainEvent, Delivered, EventPage, PaidOp, TxCost } from '../chain.ts'
import type { EvmChainSettings } from './settings.ts'

type BlockRange = { from: bigint; to: bigint }
type LogPage<L> = { logs: L[]; to: bigint }
export type LogPages = {
  /** The logs from `from` to `to`, or to the block at which the node's limit ends the page. */
  readPage(address: readonly Address[], range: BlockRange): Promise<LogPage<Log<bigint, number, false>>>
}

// Providers allow between 500 and 10,000 blocks.
const FIRST_RANGE = 2_000n
const MAX_RANGE = 10_000n

const grown = (size: bigint) => (size + size / 4n + 1n < MAX_RANGE ? size + size / 4n + 1n : MAX_RANGE)

/** Reads logs in pages. Halves a range that the node refuses, and grows it by a quarter and a block once it accepts. */
export function createLogPages(client: Pick<PublicClient, 'getLogs'>): LogPages {
  let size = FIRST_RANGE

  async function readPage(address: readonly Address[], { from, to }: BlockRange) {
    for (;;) {
      const last = from + size - 1n < to ? from + size - 1n : to
      try {
        const logs = await client.getLogs({ address: [...address], fromBlock: from, toBlock: last })
        if (last < to) size = grown(size)
        return { logs, to: last }
      } catch (error) {
        if (last === from || !isTooMuch(error)) throw error
        size = (last - from + 1n) / 2n
      }
    }
  }

  return { readPage }
}

// Geth, Erigon, Alchemy, Infura, QuickNode and public nodes use these codes or their own, with different texts.
const LIMIT_CODES = [-32_005, -32_602, -32_614, -32_701]
const LIMIT_TEXT = /range|limit|too (many|large|wide)|more than|exceed|response size|timed? ?out/i

/** Whether the node refused the range or the number of results. */
function isTooMuch(error: unknown): boolean {
  const answer = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError)
  if (!(answer instanceof RpcRequestError)) return false
  return LIMIT_CODES.includes(answer.code) || LIMIT_TEXT.test(answer.details)
}

/** All pages of a range. */
export async function readAllLogs(pages: LogPages, address: readonly Address[], { from, to }: BlockRange) {
  const logs: Log<bigint, number, false>[] = []
  for (let next = from; next <= to; ) {
    const page = await pages.readPage(address, { from: next, to })
    logs.push(...page.logs)
    next = page.to + 1n
  }
  return logs
}

type Client = Pick<PublicClient, 'getLogs' | 'request'>
type Contracts = Pick<EvmChainSettings, 'escrow' | 'vault' | 'tokens'>
type Mined = { transactionHash: Hex; blockNumber: bigint; blockHash: Hex }

// A provider has several backends, and a lagging one omits the newest logs. Another may answer the next request.
const RETRY_MS = [30, 50, 80, 120, 160, 200, 250]

/**
 * Reads pages of our contracts' events in a range of blocks. Asks for the last block in the same request, so that the
 * answering backend shows whether it has that block.
 */
export function createEventReader(client: Client, contracts: Contracts) {
  const pages = createLogPages(client)
  return async (range: BlockRange): Promise<EventPage> => {
    for (let tries = 0; ; tries += 1) {
      const [{ logs, to }, hasEnd] = await Promise.all([
        pages.readPage([contracts.escrow, contracts.vault], range),
        hasBlock(client, range.to),
      ])
      const pauseMs = RETRY_MS[tries]
      // The next scan reads these blocks again.
      if (hasEnd || pauseMs === undefined)
        return { events: toEvents(contracts, logs), to, isComplete: hasEnd }
      await delay(pauseMs)
    }
  }
}

/** Avoids `getBlock`, which would share the answer of a pending request to another backend. */
async function hasBlock(client: Client, number: bigint): Promise<boolean> {
  const block = await client.request({ method: 'eth_getBlockByNumber', params: [toHex(number), false] })
  return block !== null
}

function toEvents({ escrow, vault, tokens }: Contracts, logs: Log<bigint, number, false>[]): ChainEvent[] {
  const events: ChainEvent[] = []
  const recovered = new Map<string, ChainEvent>()
  /** The refund that the event before this one tells of. */
  let before: (ChainEvent & { creditedTo: string[] }) | undefined
  const emitted = logs.filter(({ address }) => isAddressEqual(address, escrow))
  for (const log of parseEventLogs({ abi: geoEscrowAbi, logs: emitted })) {
    const where = whereIs(log)
    if (log.eventName === 'Locked') events.push({ kind: 'locked', id: log.args.op, ...where })
    if (log.eventName === 'Claimed') events.push({ kind: 'claimed', id: log.args.op, ...where })
    if (log.eventName === 'Recovered' && tokens.includes(log.args.token))
      addRecovered(recovered, log.args, where)
    // A credit of a refund follows it at once. Any other is of another call.
    if (log.eventName === 'Credited' && before?.txHash === where.txHash)
      before.creditedTo.push(log.args.owner)
    before =
      log.eventName === 'Refunded'
        ? { kind: 'refunded', id: log.args.op, ...where, creditedTo: [] }
        : undefined
    if (before) events.push(before)
  }
  const paid = logs.filter(({ address }) => isAddressEqual(address, vault))
  for (const log of parseEventLogs({ abi: geoVaultAbi, logs: paid, eventName: 'Delivered' }))
    events.push({ kind: 'delivered', id: log.args.delivery, amount: log.args.amount, ...whereIs(log) })
  return [...events, ...recovered.values()]
}

type Where = ReturnType<typeof whereIs>

/** A transaction may recover a token of an op several times, which is one event. */
function addRecovered(
  recovered: Map<string, ChainEvent>,
  { op, token, amount }: { op: Hex; token: Hex; amount: bigint },
  where: Where,
): void {
  const id = toRecoveryId({ op, token, txHash: where.txHash })
  const before = recovered.get(id)?.amount ?? 0n
  recovered.set(id, { kind: 'recovered', id, amount: before + amount, ...where })
}

function whereIs({ transactionHash, blockNumber, blockHash }: Mined) {
  return { txHash: transactionHash, block: blockNumber, blockHash }
}

/** Undefined for a transaction that is not in a block. */
async function findReceipt(client: PublicClient, hash: Hex) {
  try {
    return await client.getTransactionReceipt({ hash })
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  }
}

/** The fee of a transaction, with that for its data on a rollup, and the events of our contracts in it. */
export async function readCost(
  client: PublicClient,
  contracts: Contracts,
  hash: Hex,
): Promise<TxCost | undefined> {
  const receipt = await findReceipt(client, hash)
  if (!receipt) return undefined
  const { gasUsed, effectiveGasPrice, logs } = receipt
  // OP chains charge it beside the gas.
  const { l1Fee = 0 } = receipt as { l1Fee?: Hex | bigint | null }
  const fee = gasUsed * effectiveGasPrice + BigInt(l1Fee ?? 0)
  return { fee, eventIds: toEvents(contracts, logs).map(({ id }) => id) }
}

/** The deliveries that these transactions made, by op hash, in whichever block they are now. */
export async function readDeliveries(
  client: PublicClient,
  { vault }: Pick<Contracts, 'vault'>,
  paid: readonly PaidOp[],
  faults?: unknown[],
): Promise<Map<string, Delivered>> {
  const found = new Map<string, Delivered>()
  const named = paid.filter(({ txHash }) => txHash !== undefined)
  const look = async (hash: Hex, ops: readonly PaidOp[]) => {
    const logs = (await findReceipt(client, hash))?.logs ?? []
    const own = logs.filter(({ address }) => isAddressEqual(address, vault))
    for (const log of parseEventLogs({ abi: geoVaultAbi, logs: own, eventName: 'Delivered' })) {
      const made = ops.find(({ op }) => op.deliveryHash === log.args.delivery)
      const delivered = { txHash: hash, block: log.blockNumber, amount: log.args.amount }
      if (made) found.set(made.op.hash, delivered)
    }
  }
  const byTransaction = [...groupBy(named, ({ txHash }) => txHash as Hex)]
  await Promise.all(byTransaction.map(([hash, ops]) => collectError(faults, () => look(hash, ops))))
  return found
}
