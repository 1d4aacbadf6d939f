import {
  type Address,
  type Hex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  size,
  type TransactionSerialized,
} from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'
import { RpcError, SERVER_ERROR } from './call.ts'

export type Authorization = {
  chainId: number
  address: Address
  nonce: number
  yParity: number
  r: Hex
  s: Hex
}

/** The signer of an authorization, and the nonce that it uses. */
export type Delegation = { authority: Address; nonce: number }

/** A signed transaction as the pool needs it. */
export type SignedTransaction = {
  raw: Hex
  hash: Hex
  bytes: number
  type: string
  from: Address
  nonce: number
  gas: bigint
  feeCap: bigint
  tip: bigint
  value: bigint
  to: Address | null
  data: Hex
  accessList: readonly { address: Address; storageKeys: readonly Hex[] }[]
  authorizations: readonly Authorization[]
  delegations: readonly Delegation[]
  signature: { v: bigint; r: Hex; s: Hex }
}

const TYPES: Readonly<Record<string, string>> = {
  legacy: '0x0',
  eip2930: '0x1',
  eip1559: '0x2',
  eip4844: '0x3',
  eip7702: '0x4',
}

export async function decodeSigned(raw: Hex): Promise<SignedTransaction> {
  const tx = parse(raw)
  const authorizations = (tx.authorizationList ?? []) as readonly Authorization[]
  return {
    raw,
    hash: keccak256(raw),
    bytes: size(raw),
    type: TYPES[tx.type ?? 'legacy'] ?? '0x0',
    from: lower(await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized })),
    nonce: tx.nonce ?? 0,
    gas: tx.gas ?? 0n,
    feeCap: tx.maxFeePerGas ?? tx.gasPrice ?? 0n,
    tip: tx.maxFeePerGas === undefined ? (tx.gasPrice ?? 0n) : (tx.maxPriorityFeePerGas ?? 0n),
    value: tx.value ?? 0n,
    to: tx.to ?? null,
    data: tx.data ?? '0x',
    accessList: tx.accessList ?? [],
    authorizations,
    delegations: await delegationsOf(authorizations),
    signature: { v: tx.v ?? BigInt(tx.yParity ?? 0), r: tx.r ?? '0x0', s: tx.s ?? '0x0' },
  }
}

function parse(raw: Hex) {
  try {
    return parseTransaction(raw)
  } catch {
    // go-ethereum answers with the error of its decoder, which differs by field.
    throw new RpcError(SERVER_ERROR, 'rlp: expected input list for types.LegacyTx')
  }
}

/** The signers of the authorizations; invalid signatures are ignored. */
export async function delegationsOf(authorizations: readonly Authorization[]): Promise<Delegation[]> {
  const found = await Promise.all(
    authorizations.map(async (authorization) => {
      try {
        const authority = lower(await recoverAuthorizationAddress({ authorization }))
        return { authority, nonce: authorization.nonce }
      } catch {
        return undefined
      }
    }),
  )
  return found.filter((delegation) => delegation !== undefined)
}

/** The sender must hold the gas at its highest price, and the value. */
export function costOf(tx: { gas: bigint; feeCap: bigint; value: bigint }): bigint {
  return tx.gas * tx.feeCap + tx.value
}

export function lower<T extends string>(address: T): T {
  return address.toLowerCase() as T
}
