import {
  type Address,
  BaseError,
  type Hex,
  keccak256,
  type PublicClient,
  parseTransaction,
  RpcRequestError,
  recoverTransactionAddress,
  type TransactionSerialized,
} from 'viem'
import { setNewest } from '../../swap/group.ts'
import type { SignedDelegation } from '../../swap/swap.ts'
import type { Block, Heads, Refusal, Sent, Signed, TxOutcomes } from '../chain.ts'
import type { EvmClients } from './client.ts'
import { type Fees, gasLimitOf } from './fees.ts'
import type { EvmRequest } from './plans.ts'
import type { EvmSigner } from './signer.ts'

// See docs/decisions.md#rules-of-real-nodes.
/** Broadcasts to every node: resolves when one accepted the bytes, and throws if that is unknown. */
export async function broadcast(nodes: readonly PublicClient[], raw: string): Promise<Refusal | undefined> {
  const offers = nodes.map((node) => offer(node, raw as Hex))
  return Promise.any(offers).catch(({ errors }: AggregateError) => {
    const refusal = commonRefusal(errors)
    if (!refusal) throw errors[0]
    return refusal
  })
}

async function offer(node: PublicClient, raw: Hex): Promise<undefined> {
  try {
    await node.request({ method: 'eth_sendRawTransaction', params: [raw] })
  } catch (error) {
    // The expected answer to a repeated broadcast.
    if (meaningOf(error) !== 'known') throw error
  }
}

const MAX_NONCES = 1_000

/**
 * Reads outcomes by nonce: one consumed in a hard-final block decides every transaction signed with it. The next nonce
 * requires agreement as well: a key that skipped one on a single node's word would be stuck. A nonce is read once per
 * block. A final one is read again: at the head, the number that nodes are
 * asked for may have named a block that a reorg undid.
 */
export function createOutcomeReader({ agreed }: Pick<EvmClients, 'agreed'>) {
  const readAt = (sender: string, { number }: Block) =>
    agreed.getTransactionCount({ address: sender as Address, blockNumber: number })
  const soft = rememberByBlock(readAt)
  const final = rememberByBlock(readAt)

  return async <T extends Sent>(sender: string, sent: readonly T[], at: Heads): Promise<TxOutcomes<T>> => {
    const [latest, hard] = await Promise.all([
      soft(sender, at.head),
      sent.length > 0 ? final(sender, at.hard) : 0,
    ])
    const isBetween = sent.some(({ nonce }) => nonce >= hard && nonce < latest)
    const settle = isBetween ? await soft(sender, at.settle) : hard
    return {
      nextNonce: latest,
      final: sent.filter(({ nonce }) => nonce < hard),
      consumed: sent.filter(({ nonce }) => nonce >= hard && nonce < settle),
      unmined: newestPerNonce(sent.filter(({ nonce }) => nonce >= latest)),
    }
  }
}

function rememberByBlock(read: (sender: string, block: Block) => Promise<number>) {
  const known = new Map<string, number>()
  return async (sender: string, block: Block): Promise<number> => {
    // The block at settle depth has the head's hash.
    const name = `${sender} ${block.number} ${block.hash}`
    const nonce = known.get(name) ?? (await read(sender, block))
    setNewest(known, name, nonce, MAX_NONCES)
    return nonce
  }
}

function newestPerNonce<T extends Sent>(sent: T[]): T[] {
  const newest = new Map<number, T>()
  for (const each of sent) {
    const known = newest.get(each.nonce)
    if (!known || known.replacement < each.replacement) newest.set(each.nonce, each)
  }
  return [...newest.values()]
}

type As = { sender: string; nonce?: number; terms: Fees }

export async function sign(
  accounts: readonly EvmSigner[],
  chainId: number,
  request: EvmRequest,
  as: As,
): Promise<Signed> {
  const account = accounts.find((candidate) => candidate.address === as.sender)
  if (!account) throw new Error(`No key for ${as.sender}`)
  if (as.nonce === undefined) throw new Error('A transaction needs a nonce')
  const transaction = {
    chainId,
    nonce: as.nonce,
    to: request.to as Address,
    data: request.data as Hex,
    gas: gasLimitOf(request, as.terms),
    ...(request.value !== undefined && { value: BigInt(request.value) }),
    maxFeePerGas: BigInt(as.terms.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(as.terms.maxPriorityFeePerGas),
  }
  const raw = request.authorizations
    ? await account.signTransaction({
        ...transaction,
        type: 'eip7702',
        authorizationList: request.authorizations.map(toAuthorization),
      })
    : await account.signTransaction({ ...transaction, type: 'eip1559' })
  return { raw, txHash: keccak256(raw) }
}

export async function isSignedFor(
  request: EvmRequest,
  { raw, sender }: { raw: string; sender: string },
): Promise<boolean> {
  const parsed = await parseSigned(raw as TransactionSerialized)
  if (!parsed) return false
  const { signed, signer } = parsed
  const authorizations = 'authorizationList' in signed ? (signed.authorizationList ?? []) : []
  return (
    signer === sender &&
    signed.to?.toLowerCase() === request.to.toLowerCase() &&
    (signed.data ?? '0x') === request.data &&
    (signed.value ?? 0n) === BigInt(request.value ?? 0) &&
    namesOf(authorizations) === namesOf(request.authorizations ?? [])
  )
}

/** Undefined for bytes that are not a signed transaction. */
async function parseSigned(serializedTransaction: TransactionSerialized) {
  try {
    const signed = parseTransaction(serializedTransaction)
    return { signed, signer: await recoverTransactionAddress({ serializedTransaction }) }
  } catch {
    return undefined
  }
}

/** Signatures identify authorizations: each covers its delegate, chain and nonce. */
function namesOf(authorizations: readonly { r?: string | undefined; s?: string | undefined }[]): string {
  return authorizations.map(({ r = '0x0', s = '0x0' }) => `${BigInt(r)} ${BigInt(s)}`).join()
}

function toAuthorization(signed: SignedDelegation) {
  return {
    chainId: signed.chainId,
    address: signed.address as Address,
    nonce: signed.nonce,
    yParity: signed.yParity,
    r: signed.r as Hex,
    s: signed.s as Hex,
  }
}

/** `known`: the node or the chain already has these bytes, or the nonce is consumed. */
type Meaning = 'known' | Refusal

const MEANINGS: readonly [Meaning, RegExp][] = [
  ['known', /already ?known|known transaction|already imported|txn with same hash|nonce too low|OldNonce/i],
  [
    'authority',
    /authority already reserved|delegated accounts|delegation (authority|nonce)|DelegatorHasPending/i,
  ],
  ['unfunded', /insufficient ?funds|doesn't have enough funds/i],
  ['gasTooLow', /intrinsic ?gas(?! too high)|floor data gas/i],
  ['feeBelowBase', /max fee per gas less than block base fee/i],
  [
    'underpriced',
    /underpriced|fee ?too ?low|could not replace existing|gas price below minimum|ReplacementNotAllowed/i,
  ],
]

/** Classifies a node's answer to a broadcast; undefined if its text does not concern the transaction. */
export function meaningOf(error: unknown): Meaning | undefined {
  if (!(error instanceof BaseError)) return undefined
  return MEANINGS.find(([, text]) => text.test(error.details))?.[0]
}

/** The refusal that all nodes gave; undefined if one was silent or unclear, since it may have accepted the bytes. */
export function commonRefusal(errors: readonly unknown[]): Refusal | undefined {
  const [first, ...others] = errors.map(refusalOf)
  return others.every((other) => other === first) ? first : undefined
}

function refusalOf(error: unknown): Refusal | undefined {
  const isNodes = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError)
  const meaning = isNodes ? meaningOf(error) : undefined
  return meaning === 'known' ? undefined : meaning
}
