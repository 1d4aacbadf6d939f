import type { Hex } from 'viem'
import { toHex } from './call.ts'
import type { Pooled } from './pool-view.ts'
import type { SignedTransaction } from './signed-transaction.ts'

export type Entry = { signed: SignedTransaction; inner: Hex; l1Gas: bigint }
type Json = Record<string, unknown>

/** Which transaction of the node stands for which of a client: the node's has a lower gas limit and no tip. */
export function createArbitrumBook() {
  const bySigned = new Map<string, Entry>()
  const byInner = new Map<string, Entry>()

  function add(entry: Entry): void {
    bySigned.set(entry.signed.hash, entry)
    byInner.set(entry.inner, entry)
  }

  /** A value of the node in the words of the client: a hash, a log, a receipt, a transaction, a block, or many. */
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
    if (typeof json.cumulativeGasUsed !== 'string') return renamed
    return {
      ...renamed,
      type: entry.signed.type,
      gasUsed: toHex(BigInt(json.gasUsed as string) + entry.l1Gas),
      gasUsedForL1: toHex(entry.l1Gas),
      cumulativeGasUsed: toHex(BigInt(json.cumulativeGasUsed) + entry.l1Gas),
      logs: (json.logs as unknown[]).map(toClient),
    }
  }

  /** The hash that the node knows. */
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
