import { SUPPORTED_MEMO_PROGRAM_ADDRESSES } from '@solana-program/memo'
import type { Methods } from '../json-rpc.ts'
import type { Landed } from '../landed.ts'
import type { Ledger } from '../ledger.ts'
import {
  API_VERSION,
  type Config,
  findBoolean,
  findInteger,
  readAddress,
  readArray,
  readBank,
  readConfig,
  readHistoryCommitment,
  readSignature,
} from '../params.ts'
import { invalidParams } from '../rpc-error.ts'
import { BLOCKHASH_LIFE_BLOCKS, commitmentOf, currentSlot, slotAt } from '../slots.ts'
import { toTransactionJson } from '../transaction-json.ts'

// Agave's limits per request.
const MAX_STATUSES = 256
const MAX_SIGNATURES = 1000
const MEMO_PROGRAMS: ReadonlySet<string | undefined> = new Set(SUPPORTED_MEMO_PROGRAM_ADDRESSES)

/** Landed transactions: their status, content and order per address. */
export function historyMethods(ledger: Ledger): Methods {
  const { slots } = ledger
  return {
    getSignatureStatuses([signatures, options]) {
      const slot = currentSlot(slots)
      const searchAll = findBoolean(readConfig(options).searchTransactionHistory)
      const wanted = readArray(signatures, { max: MAX_STATUSES }).map(readSignature)
      const value = wanted.map((signature) => {
        const landed = ledger.history.find(signature)
        // Without the search a node reads only its cache of recent blocks.
        const isSeen = landed && (searchAll || landed.slot >= slot - BLOCKHASH_LIFE_BLOCKS)
        return isSeen ? toStatus(ledger, landed) : null
      })
      return { context: { slot, apiVersion: API_VERSION }, value }
    },
    getTransaction([signature, options]) {
      const config = typeof options === 'string' ? { encoding: options } : readConfig(options)
      const landed = ledger.history.find(readSignature(signature))
      const commitment = readHistoryCommitment(config.commitment)
      if (!landed || landed.slot > slotAt(slots, commitment)) return null
      const maxVersion = findInteger(config.maxSupportedTransactionVersion)
      const content = toTransactionJson(landed, { encoding: config.encoding, maxVersion })
      return { slot: landed.slot, blockTime: landed.timeSeconds, ...content }
    },
    getSignaturesForAddress: ([address, options]) => {
      return readSignatures(ledger, readAddress(address), readConfig(options))
    },
  }
}

function toStatus(ledger: Ledger, landed: Landed) {
  const confirmationStatus = commitmentOf(ledger.slots, landed.slot)
  return {
    slot: landed.slot,
    confirmations: confirmationStatus === 'finalized' ? null : currentSlot(ledger.slots) - landed.slot,
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    confirmationStatus,
  }
}

function readSignatures(ledger: Ledger, address: string, config: Config) {
  readHistoryCommitment(config.commitment)
  const { slot } = readBank(ledger, config)
  const limit = findInteger(config.limit) ?? MAX_SIGNATURES
  if (limit < 1 || limit > MAX_SIGNATURES) throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`)
  const all = ledger.history.mentioning(address)
  const end = config.before == null ? all.length : positionOf(all, readSignature(config.before))
  const start = config.until == null ? 0 : positionOf(all, readSignature(config.until)) + 1
  const reached = all.slice(start, Math.max(start, end)).filter((landed) => landed.slot <= slot)
  return reached
    .slice(-limit)
    .reverse()
    .map((landed) => ({
      signature: landed.transaction.signature,
      slot: landed.slot,
      err: landed.err,
      memo: findMemo(landed),
      blockTime: landed.timeSeconds,
      confirmationStatus: commitmentOf(ledger.slots, landed.slot),
    }))
}

function positionOf(all: readonly Landed[], signature: string): number {
  return all.findIndex(({ transaction }) => transaction.signature === signature)
}

// In the nodes' format: every memo preceded by its length.
function findMemo({ keys, transaction }: Landed): string | null {
  const memos = transaction.message.instructions
    .filter(({ programIndex }) => MEMO_PROGRAMS.has(keys[programIndex]?.address))
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`)
  return memos.length > 0 ? memos.join('; ') : null
}
