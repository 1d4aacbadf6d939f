import {
  type Address,
  type Base64EncodedWireTransaction,
  getBase64Encoder,
  type Signature,
} from '@solana/kit'
import { getCreateAccountWithSeedInstructionDataDecoder } from '@solana-program/system'
import type { SolanaClient } from './client.ts'
import type { Marker } from './marker.ts'
import { type ReadInstruction, readMessage, splitWire } from './message.ts'
import { SYSTEM_PROGRAM } from './token-layout.ts'

const PAGE = 1_000
// Every transaction that touches a marker costs its sender a fee; ours are one creation and one sweep.
const MAX_PAGES = 20

type Query = {
  marker: Marker
  opId: string
  commitment?: 'confirmed' | 'finalized'
  /** What was found at a lower commitment: a transaction's bytes are not read twice. */
  known?: MarkerTransaction | undefined
}
/** `paidTo` is where its transfer went: a token account, or a wallet for the native coin. */
export type MarkerTransaction = { txHash: string; slot: bigint; paidTo: string }

/**
 * The one transaction that created a marker that is there, if ours did. Strangers can send lamports to a marker
 * once it is known, and write what memo they like: only one signed by the marker's base that creates it counts.
 * An account without any transaction that could have made it is one whose history the node does not have, or not
 * yet: taken for a stranger's doing, what was paid would be paid again.
 */
export async function findMarkerTransaction(
  client: SolanaClient,
  { marker, opId, commitment = 'confirmed', known }: Query,
): Promise<MarkerTransaction | undefined> {
  let before: Signature | undefined
  let isExplained = false
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const options = { commitment, limit: PAGE, ...(before && { before }) }
    const found = await client.rpc.getSignaturesForAddress(marker.address as Address, options).send()
    for (const { signature, slot, err, memo } of found) {
      if (err !== null) continue
      isExplained = true
      if (!memo?.includes(opId)) continue
      if (signature === known?.txHash) return { ...known, slot }
      const paidTo = await findPayee(client, { signature, marker, commitment })
      if (paidTo !== undefined) return { txHash: signature, slot, paidTo }
    }
    before = found.at(-1)?.signature
    if (found.length === PAGE) continue
    if (isExplained) return undefined
    throw new Error(`The node has marker ${marker.address} without its history`)
  }
  throw new Error(`The history of marker ${marker.address} does not end`)
}

type Candidate = { signature: Signature; marker: Marker; commitment: 'confirmed' | 'finalized' }

/** Undefined when this transaction did not create the marker. */
async function findPayee({ rpc }: SolanaClient, candidate: Candidate): Promise<string | undefined> {
  const { signature, marker, commitment } = candidate
  const found = await rpc
    .getTransaction(signature, { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 })
    .send()
  if (!found) throw new Error(`The node names ${signature} and does not know it`)
  const message = readWire(found.transaction[0] as Base64EncodedWireTransaction)
  if (!message?.signers.includes(marker.base)) return undefined
  if (!message.instructions.some((instruction) => isCreateOf(instruction, marker))) return undefined
  // Of a token: source, mint, destination, authority. Of the native coin: source, destination.
  const { program, accounts = [] } = message.instructions.at(-1) ?? {}
  return program === SYSTEM_PROGRAM ? accounts[1] : accounts[2]
}

function readWire(transaction: Base64EncodedWireTransaction) {
  const wire = Uint8Array.from(getBase64Encoder().encode(transaction))
  const split = splitWire(wire, { count: wire[0] ?? 0 })
  return split && readMessage(split.message)
}

function isCreateOf({ program, accounts, data }: ReadInstruction, marker: Marker): boolean {
  if (program !== SYSTEM_PROGRAM || data[0] !== 3 || accounts[1] !== marker.address) return false
  const { base, seed } = getCreateAccountWithSeedInstructionDataDecoder().decode(data)
  return base === marker.base && seed === marker.seed
}
