import { hashDelivery, solanaRingOf } from '@geoswap/protocol'
import { lockInstructions, type OpId } from '@geoswap/solana-escrow'
import type { BuildSolanaTxReply } from '@geoswap/wire'
import type { Address, Instruction } from '@solana/kit'
import { TamperedOperationError } from '../errors.ts'
import { type Difference, differs, unless } from './difference.ts'
import { deliveryDifferences, timeDifferences } from './geo-op.ts'
import { readDelivery, toFields } from './read-fields.ts'
import { type ReadInstruction, readSolanaInput, type SolanaInput } from './solana-input.ts'
import type { CheckContext, OriginContracts, Terms } from './terms.ts'

/**
 * Returns the transaction to sign. Throws unless its bytes do nothing but lock the input in the escrow of
 * these terms, bound to the requested delivery.
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
  const { refundDeadline } = input
  const isAfterFill = refundDeadline > delivery.fillDeadline
  const differences = [
    ...inputDifferences(input, terms),
    ...differs('opId', `0x${input.opId}`, hashDelivery(delivery)),
    ...deliveryDifferences(delivery, terms, context),
    ...timeDifferences('refundDeadline', refundDeadline, context),
    ...unless(isAfterFill, 'refundDeadline', refundDeadline, `after ${delivery.fillDeadline}`),
    ...(await lockDifferences(input, context.origin)),
    ...differs('delivery.ring', delivery.ring, solanaRingOf({ chainId, program: context.origin.escrow })),
    ...decodedDifferences(decoded, input),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return unsignedTransaction
}

function unreadable(): TamperedOperationError {
  const expected = 'compute budget, memo, a new escrow account and one transfer by the wallet'
  return new TamperedOperationError([{ field: 'unsignedTransaction', expected, actual: 'something else' }])
}

function inputDifferences(input: SolanaInput, terms: Terms): Difference[] {
  return [
    ...differs('wallet', input.wallet, terms.wallet),
    ...differs('token', input.token.mint, terms.inputToken),
    ...differs('amount', input.amount, terms.inputAmount),
  ]
}

/** The escrow's address follows from the terms: the instructions are computed again and compared. */
async function lockDifferences(
  { wallet, feePayer, opId, refundDeadline, token, amount, lock }: SolanaInput,
  { escrow, vault, attester }: OriginContracts,
): Promise<Difference[]> {
  const terms = {
    wallet: wallet as Address,
    vault: vault as Address,
    attester: attester as Address,
    rentReceiver: feePayer as Address,
    opId: `0x${opId}` as OpId,
    refundDeadline,
    amount,
  }
  const payer = feePayer as Address
  const expected = await lockInstructions(escrow as Address, { terms, token, payer })
  const [created, moved] = lock
  const [create, move] = expected
  const differences = [
    ...differs('destination', created?.accounts[1], create?.accounts?.[1]?.address ?? ''),
    ...differs('source', moved?.accounts[0], move?.accounts?.[0]?.address ?? ''),
  ]
  if (differences.length > 0 || isSame(lock, expected)) return differences
  return [{ field: 'unsignedTransaction', expected: 'one lock of the input', actual: 'something else' }]
}

function isSame(read: readonly ReadInstruction[], expected: readonly Instruction[]): boolean {
  return (
    read.length === expected.length &&
    read.every(({ program, accounts, data }, index) => {
      const { programAddress, accounts: named = [], data: bytes = new Uint8Array() } = expected[index] ?? {}
      return (
        program === programAddress &&
        accounts.join() === named.map(({ address }) => address).join() &&
        data.byteLength === bytes.length &&
        bytes.every((byte, at) => byte === data.getUint8(at))
      )
    })
  )
}

/** The decoded fields of the reply must match the bytes of the transaction. */
function decodedDifferences(decoded: Readonly<Record<string, unknown>>, input: SolanaInput): Difference[] {
  const { feePayer, wallet, opId, refundDeadline, token, amount, lock } = input
  const destination = lock[0]?.accounts[1]
  const told = { feePayer, wallet, opId, refundDeadline, token: token.mint, amount, destination }
  return Object.entries(told).flatMap(([field, value]) =>
    differs(`operation.${field}`, String(decoded[field]), String(value)),
  )
}
