import { hashDelivery, solanaRingOf } from '@geoswap/protocol'
import type { BuildSolanaTxReply } from '@geoswap/wire'
import { type Address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit'
import { TamperedOperationError } from '../errors.ts'
import { deliveryDifferences } from './delivery.ts'
import { type Difference, differs } from './difference.ts'
import { readDelivery, toFields } from './read-fields.ts'
import { readSolanaInput, type SolanaInput } from './solana-input.ts'
import type { CheckContext, Terms } from './terms.ts'

const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address

/**
 * Returns the transaction to sign. Throws unless its bytes are exactly one transfer of the input by the
 * wallet, bound to the requested delivery.
 */
export async function checkSolanaBuild(
  { unsignedTransaction, operation }: BuildSolanaTxReply,
  terms: Terms,
  context: CheckContext,
): Promise<string> {
  const input = readSolanaInput(unsignedTransaction)
  if (!input) throw unreadable()
  const decoded = toFields(operation, 'operation')
  const delivery = readDelivery(decoded['delivery'])
  const { originChain: chainId } = terms
  const differences = [
    ...inputDifferences(input, terms),
    ...differs('opId', `0x${input.opId}`, hashDelivery(delivery)),
    ...deliveryDifferences(delivery, terms, context),
    ...(await accountDifferences(input, context)),
    ...differs('delivery.ring', delivery.ring, solanaRingOf({ chainId, intake: context.origin.escrow })),
    ...decodedDifferences(decoded, input),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return unsignedTransaction
}

function unreadable(): TamperedOperationError {
  const expected = 'compute budget, marker, memo and one transfer by the wallet'
  return new TamperedOperationError([{ field: 'unsignedTransaction', expected, actual: 'something else' }])
}

function inputDifferences(input: SolanaInput, terms: Terms): Difference[] {
  return [
    ...differs('wallet', input.wallet, terms.wallet),
    ...differs('token', input.token, terms.inputToken),
    ...differs('amount', input.amount, terms.inputAmount),
  ]
}

/** Tokens must leave the wallet's associated account, not another account it may sign for. */
async function accountDifferences(input: SolanaInput, { origin }: CheckContext): Promise<Difference[]> {
  const { source, destination, wallet } = input
  return [
    ...differs('source', source, await accountOf(wallet, input)),
    ...differs('destination', destination, await accountOf(origin.escrow, input)),
  ]
}

/** The decoded fields of the reply must match the bytes of the transaction. */
function decodedDifferences(decoded: Readonly<Record<string, unknown>>, input: SolanaInput): Difference[] {
  const { tokenProgram: _, blockhash: _lifetime, ...told } = input
  return Object.entries(told).flatMap(([field, value]) =>
    differs(`operation.${field}`, String(decoded[field]), String(value)),
  )
}

async function accountOf(owner: string, { token, tokenProgram }: SolanaInput): Promise<string> {
  if (tokenProgram === undefined) return owner
  const encoder = getAddressEncoder()
  const [account] = await getProgramDerivedAddress({
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    seeds: [owner, tokenProgram, token].map((each) => encoder.encode(each as Address)),
  })
  return account
}
