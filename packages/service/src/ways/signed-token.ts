import type { TokenDomain } from '@geoswap/protocol'
import { type Address, getAddress, type Hex, type PublicClient } from 'viem'
import { readCodeStart } from '../chains/evm/gather.ts'
import { recoverSigner, toDelegation } from '../chains/evm/signatures.ts'
import { type ObstacleReads, readHeld, type SignatureReads } from '../chains/evm/ways.ts'
import { ServiceError } from '../errors.ts'
import { findToken } from '../swap/catalog.ts'
import { type FailureCode, isUnlocked } from '../swap/lifecycle.ts'
import type { Op, SignedInput, Swap } from '../swap/swap.ts'
import { type BuiltOp, isOthers } from './way.ts'

// The gas for asking a token: what a lock has for one input, and the cost of a call. A token may copy the answer of a
// wallet into its own: this gas pays memory for less than half a megabyte.
export const TAKE_GAS = 300_000n

/** The deadline of a signature that is only tried. */
export const NEVER = BigInt(Number.MAX_SAFE_INTEGER)

/** The terms of an op as the messages that tokens take name them. */
export const paidBy = (op: Pick<Op, 'wallet' | 'inputAmount' | 'opDeadline'>) => ({
  wallet: op.wallet as Address,
  inputAmount: op.inputAmount,
  opDeadline: BigInt(op.opDeadline),
})

type Digest = (separator: Hex, escrow: Address, input: SignedInput) => Hex

/** The digest that the wallet signs for its token, and whether its key signed it; undefined without a domain. */
export async function readSigned(
  { escrow, separatorOf }: SignatureReads,
  input: SignedInput,
  { digestOf, signature }: { digestOf: Digest; signature: string },
): Promise<{ digest: Hex; isByKey: boolean } | undefined> {
  const separator = await separatorOf(input.inputToken)
  if (!separator) return undefined
  const digest = digestOf(separator, escrow, input)
  return { digest, isByKey: recoverSigner(digest, signature as Hex) === input.wallet }
}

type Take = (client: PublicClient, escrow: Address, swap: Swap, blockNumber: bigint) => Promise<boolean>

/** Asks the token itself whether it would take the signature now. */
export async function findSignedObstacle(
  reads: ObstacleReads,
  swap: Swap,
  isTaken: Take,
): Promise<FailureCode | undefined> {
  const { clients, settings } = reads
  const { client } = clients
  const { obstacle, blockNumber } = await readHeld(reads, swap, { client, owner: swap.op.wallet })
  const refused = obstacle ?? (await findCodeObstacle(reads, swap))
  if (refused) return refused
  return (await isTaken(client, settings.escrow, swap, blockNumber)) ? undefined : 'INVALID_AUTHORIZATION'
}

/** Code that came after the build: budgets and tries of contract wallets were not applied to the op. */
export async function findCodeObstacle(
  { clients, settings }: ObstacleReads,
  { op, state }: Swap,
): Promise<FailureCode | undefined> {
  if (!isUnlocked(state) || op.isContract) return undefined
  const code = await readCodeStart(clients.gathered.client, getAddress(op.wallet))
  const { kind } = toDelegation({ code, nonce: 0, pendingNonce: 0 }, settings)
  return isOthers(kind) ? 'INVALID_AUTHORIZATION' : undefined
}

type SignedTerms = Record<'wallet' | 'inputAmount' | 'opDeadline', string>

/** The domain of the token, and the terms that the wallet signs. */
export function toSign({ chain, quote, op }: BuiltOp): {
  domain: TokenDomain
  paid: ReturnType<typeof paidBy>
} {
  const token = findToken(chain, quote.inputToken)
  if (!token?.signing) throw new ServiceError('QUOTE_EXPIRED')
  const { name, version } = token.signing
  const { wallet, inputAmount, opDeadline } = op.terms as SignedTerms
  return {
    domain: { name, version, chainId: chain.chainId, verifyingContract: quote.inputToken as Hex },
    paid: paidBy({ wallet, inputAmount: BigInt(inputAmount), opDeadline: Number(opDeadline) }),
  }
}
