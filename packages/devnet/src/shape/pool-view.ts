import type { Address, Hex } from 'viem'
import type { Ask } from './call.ts'
import { type Authorization, type Delegation, delegationsOf, lower } from './signed-transaction.ts'

export type Pooled = {
  hash: Hex
  from: Address
  nonce: number
  gas: bigint
  feeCap: bigint
  tip: bigint
  value: bigint
  delegations: readonly Delegation[]
}

/** The transactions of one sender: executable ones, and those behind a gap. */
export type SenderView = { stateNonce: number; pending: readonly Pooled[]; queued: readonly Pooled[] }

type PooledJson = {
  hash: Hex
  from: Address
  nonce: string
  gas: string
  gasPrice: string
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
  value: string
  authorizationList?: { chainId: string; address: Address; nonce: string; yParity: string; r: Hex; s: Hex }[]
}

/**
 * The node's pool, read anew each time, so that a mined, dropped or reverted transaction is never remembered.
 */
export function createPoolView(ask: Ask) {
  const delegations = new Map<Hex, readonly Delegation[]>()

  async function read(): Promise<Pooled[]> {
    const found = await ask<PooledJson[]>('eth_pendingTransactions')
    if (found.length === 0) delegations.clear()
    return Promise.all(
      found.map(async (tx) => ({
        hash: tx.hash,
        from: lower(tx.from),
        nonce: Number(tx.nonce),
        gas: BigInt(tx.gas),
        feeCap: BigInt(tx.maxFeePerGas ?? tx.gasPrice),
        tip: BigInt(tx.maxPriorityFeePerGas ?? tx.gasPrice),
        value: BigInt(tx.value),
        delegations: await delegationsIn(tx),
      })),
    )
  }

  async function delegationsIn(tx: PooledJson): Promise<readonly Delegation[]> {
    if (!tx.authorizationList) return []
    const known = delegations.get(tx.hash)
    if (known) return known
    const found = await delegationsOf(tx.authorizationList.map(toAuthorization))
    delegations.set(tx.hash, found)
    return found
  }

  async function viewOf(pool: readonly Pooled[], sender: Address): Promise<SenderView> {
    const stateNonce = Number(await ask<string>('eth_getTransactionCount', sender, 'latest'))
    return splitAtGap(
      pool.filter(({ from }) => from === sender),
      stateNonce,
    )
  }

  return { read, viewOf }
}

function splitAtGap(own: readonly Pooled[], stateNonce: number): SenderView {
  const byNonce = new Map(own.map((tx) => [tx.nonce, tx]))
  const pending: Pooled[] = []
  for (let tx = byNonce.get(stateNonce); tx; tx = byNonce.get(tx.nonce + 1)) pending.push(tx)
  return { stateNonce, pending, queued: own.filter((tx) => !pending.includes(tx)) }
}

function toAuthorization(json: NonNullable<PooledJson['authorizationList']>[number]): Authorization {
  return {
    chainId: Number(json.chainId),
    address: json.address,
    nonce: Number(json.nonce),
    yParity: Number(json.yParity),
    r: json.r,
    s: json.s,
  }
}
