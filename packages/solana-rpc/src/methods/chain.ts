import type { Methods } from '../json-rpc.ts'
import type { Ledger } from '../ledger.ts'
import { API_VERSION, findInteger, readBank, readConfig, readHistoryCommitment } from '../params.ts'
import { BLOCK_NOT_AVAILABLE, invalidParams, RpcError } from '../rpc-error.ts'
import { SLOTS_PER_EPOCH } from '../runtime.ts'
import { BLOCKHASH_LIFE_BLOCKS, currentSlot, isBlockhashValid, latestBlockhash, slotAt } from '../slots.ts'
import { toTransactionJson } from '../transaction-json.ts'
import { toBase58 } from '../wire-transaction.ts'

const MAX_BLOCK_RANGE = 500_000

/** Slots, blocks and the node's identity. */
export function chainMethods(ledger: Ledger): Methods {
  const { slots } = ledger
  const slotOf = (config: unknown) => readBank(ledger, readConfig(config)).slot
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': 0 }),
    getGenesisHash: () => toBase58(slots.genesis),
    getFirstAvailableBlock: () => 0,
    minimumLedgerSlot: () => 0,
    getSlot: ([config]) => slotOf(config),
    getBlockHeight: ([config]) => slotOf(config),
    getTransactionCount: () => ledger.history.count(),
    getEpochInfo: ([config]) => toEpochInfo(ledger, slotOf(config)),
    getEpochSchedule: () => ({
      slotsPerEpoch: SLOTS_PER_EPOCH,
      leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
      warmup: false,
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
    }),
    getLatestBlockhash([config]) {
      const { slot, context } = readBank(ledger, readConfig(config))
      return { context, value: latestBlockhash(slots, slot) }
    },
    isBlockhashValid([blockhash, config]) {
      const { slot, context } = readBank(ledger, readConfig(config))
      if (typeof blockhash !== 'string') throw invalidParams('Invalid param: Invalid')
      return { context, value: isBlockhashValid(slots, { blockhash, slot }) }
    },
    getBlock: ([slot, config]) => readBlock(ledger, slot, config),
    getBlockTime: ([slot]) =>
      getReachedBlock(ledger, { slot: findInteger(slot), upTo: currentSlot(slots) }).timeSeconds,
    getBlocks: ([start, end, config]) =>
      typeof end === 'object'
        ? readRange(ledger, { start, config: end ?? config })
        : readRange(ledger, { start, end, config }),
    getBlocksWithLimit([start, limit, config]) {
      const first = findInteger(start) ?? 0
      const count = Math.min(findInteger(limit) ?? 0, MAX_BLOCK_RANGE)
      return count === 0 ? [] : readRange(ledger, { start: first, end: first + count - 1, config })
    },
    // Blocks are never full here, so no priority fee is needed.
    getRecentPrioritizationFees: () =>
      slots.blocks.slice(-BLOCKHASH_LIFE_BLOCKS).map(({ slot }) => ({ slot, prioritizationFee: 0 })),
  }
}

function toEpochInfo(ledger: Ledger, slot: number) {
  return {
    absoluteSlot: slot,
    blockHeight: slot,
    epoch: Math.floor(slot / SLOTS_PER_EPOCH),
    slotIndex: slot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: ledger.history.count(),
  }
}

function readBlock(ledger: Ledger, slot: unknown, options: unknown) {
  const config = readConfig(options)
  const upTo = slotAt(ledger.slots, readHistoryCommitment(config.commitment))
  const block = getReachedBlock(ledger, { slot: findInteger(slot), upTo })
  const parentSlot = Math.max(0, block.slot - 1)
  return {
    blockhash: block.blockhash,
    previousBlockhash: ledger.slots.blocks[parentSlot]?.blockhash,
    parentSlot,
    blockHeight: block.slot,
    blockTime: block.timeSeconds,
    ...blockContent(block.transactions, config),
    ...(config.rewards !== false && { rewards: [] }),
  }
}

function blockContent(
  landed: Ledger['slots']['blocks'][number]['transactions'],
  config: Record<string, unknown>,
) {
  const details = config.transactionDetails ?? 'full'
  if (details === 'none') return {}
  if (details === 'signatures') return { signatures: landed.map(({ transaction }) => transaction.signature) }
  if (details !== 'full') throw invalidParams(`unsupported transactionDetails: ${String(details)}`)
  const format = { encoding: config.encoding, maxVersion: findInteger(config.maxSupportedTransactionVersion) }
  return { transactions: landed.map((transaction) => toTransactionJson(transaction, format)) }
}

function readRange(ledger: Ledger, range: { start: unknown; end?: unknown; config: unknown }): number[] {
  const commitment = readHistoryCommitment(readConfig(range.config).commitment)
  const start = findInteger(range.start) ?? 0
  const last = Math.min(findInteger(range.end) ?? start + MAX_BLOCK_RANGE, slotAt(ledger.slots, commitment))
  if (last - start > MAX_BLOCK_RANGE) throw invalidParams(`Slot range too large; max ${MAX_BLOCK_RANGE}`)
  return Array.from({ length: Math.max(0, last - start + 1) }, (_, index) => start + index)
}

function getReachedBlock(ledger: Ledger, query: { slot: number | undefined; upTo: number }) {
  const { slot, upTo } = query
  if (slot === undefined) throw invalidParams('Invalid params: expected u64')
  const block = slot <= upTo ? ledger.slots.blocks[slot] : undefined
  if (!block) throw new RpcError(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`)
  return block
}
