import type { Hex } from 'viem'
import { toHex } from './call.ts'
import type { Pooled } from './pool-view.ts'
import type { SignedTransaction } from './signed-transaction.ts'

type Entry = { signed: SignedTransaction; inner: Hex; l1Gas: bigint }
type Json = Record<string, unknown>

/** Maps transactions of the node to those of clients: the node's have a lower gas limit and no tip. */
export function createTransactionMap() {
  const bySigned = new Map<string, Entry>()
  const byInner = new Map<string, Entry>()

  function add(entry: Entry): void {
    bySigned.set(entry.signed.hash, entry)
    byInner.set(entry.inner, entry)
  }

  /**
   * Replaces the node's hashes with the client's in a hash, log, receipt, transaction, block, or list of
   * them.
   */
  function toClient(value: unknown): unknown {
    if (typeof value === 'string') return byInner.get(value)?.signed.hash ?? value
    if (Array.isArray(value)) return byInner.size === 0 ? value : value.map(toClient)
    if (typeof value !== 'object' || value === null || byInner.size === 0) return value
    const json = value as Json
    if (Array.isArray(json.transactions)) return blockToClient(json, json.transactions)
    if (typeof json.transactionHash === 'string') return receiptOrLog(json)
    const entry = typeof json.hash === 'string' ? byInner.get(json.hash) : undefined
    return entry ? { ...json, ...fieldsOf(entry.signed) } : value
  }

  function blockToClient(block: Json, transactions: unknown[]): Json {
    if (transactions.length === 0) return block
    const l1Gas = transactions.reduce<bigint>((sum, tx) => sum + (entryOf(tx)?.l1Gas ?? 0n), 0n)
    const gasUsed = toHex(BigInt(block.gasUsed as string) + l1Gas)
    return { ...block, gasUsed, transactions: transactions.map(toClient) }
  }

  function entryOf(tx: unknown): Entry | undefined {
    return byInner.get(typeof tx === 'string' ? tx : ((tx as Json).hash as string))
  }

  function receiptOrLog(json: Json): Json {
    const entry = byInner.get(json.transactionHash as string)
    if (!entry) return json
    const renamed = { ...json, transactionHash: entry.signed.hash }
    return Array.isArray(json.logs)
      ? { ...renamed, ...gasOf(json, entry), logs: json.logs.map(toClient) }
      : renamed
  }

  /** Replaces a client's hash with the node's. */
  function toNode(param: unknown): unknown {
    return typeof param === 'string' ? (bySigned.get(param)?.inner ?? param) : param
  }

  function asSigned(pooled: Pooled): Pooled {
    const entry = byInner.get(pooled.hash)
    if (!entry) return pooled
    const { hash, gas, feeCap, tip } = entry.signed
    return { ...pooled, hash, gas, feeCap, tip }
  }

  return { add, toClient, toNode, asSigned, find: (inner: Hex) => byInner.get(inner) }
}

function gasOf(receipt: Json, { signed, l1Gas }: Entry): Json {
  return {
    type: signed.type,
    gasUsed: toHex(BigInt(receipt.gasUsed as string) + l1Gas),
    gasUsedForL1: toHex(l1Gas),
    cumulativeGasUsed: toHex(BigInt(receipt.cumulativeGasUsed as string) + l1Gas),
  }
}

function fieldsOf(tx: SignedTransaction): Json {
  const price = tx.type === '0x0' || tx.type === '0x1' ? { gasPrice: toHex(tx.feeCap) } : {}
  return {
    hash: tx.hash,
    type: tx.type,
    gas: toHex(tx.gas),
    maxFeePerGas: toHex(tx.feeCap),
    maxPriorityFeePerGas: toHex(tx.tip),
    v: toHex(tx.signature.v),
    r: tx.signature.r,
    s: tx.signature.s,
    ...price,
  }
}
