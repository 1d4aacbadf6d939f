import type { Deposit } from '@geoswap/wire'
import { type FailureCode, type SwapState, untakenStates } from './lifecycle.ts'

/** The chain's facts about the deposit of a swap, as its row stores them: amounts are text. */
export type DepositFacts = Pick<Deposit, 'received' | 'txHash' | 'returned'>

export type Returned = NonNullable<DepositFacts['returned']>[number]

/** Why a swap failed whose input had to be deposited. */
export function depositFailure(received: bigint, inputAmount: bigint): FailureCode {
  if (received === 0n) return 'DEPOSIT_MISSING'
  return received < inputAmount ? 'DEPOSIT_TOO_SMALL' : 'OPERATION_EXPIRED'
}

type Seen = { state: SwapState; input: bigint; inputToken: string; until: Date; deposit: DepositFacts }

/** Says in words how to go on with a deposit, or where it goes. Undefined if there is nothing to say. */
export function nextOf({ state, input, inputToken, until, deposit }: Seen): string | undefined {
  const received = BigInt(deposit.received ?? 0)
  const by = until.toISOString()
  if (state === 'awaitingDeposit') return nextToSend(input - received, received > 0n, by)
  const back = returnedOf(deposit, inputToken)
  if (untakenStates.includes(state)) {
    // Anyone can send dust to the address and back: it is not the deposit.
    if (back > 0n && back >= received) return undefined
    return received > 0n
      ? 'The deposit goes back to the wallet, by the service or by `geoswap recover`.'
      : 'A deposit that still comes goes back to the wallet, by the service or by `geoswap recover`.'
  }
  const more = received - input - back
  return more > 0n ? `${more} units were too many. They go back to the wallet after ${by}.` : undefined
}

function returnedOf({ returned = [] }: DepositFacts, token: string): bigint {
  return returned.filter((each) => each.token === token).reduce((sum, { amount }) => sum + BigInt(amount), 0n)
}

function nextToSend(missing: bigint, isPart: boolean, by: string): string {
  if (missing <= 0n)
    return "The deposit is complete and waits for liquidity or its key's next day. Else it goes back to the wallet."
  if (!isPart) return `Send ${missing} units of the input token to the address. They have to arrive by ${by}.`
  return `Send ${missing} more units by ${by}. Otherwise all of it goes back to the wallet.`
}

// Anyone can send dust to an op's address and back: a status keeps this many returns.
const MAX_RETURNED = 20

/** Adds a return, once per transaction and token. Of too many, the smallest of its token goes. */
export function withReturned(known: readonly Returned[], added: Returned): readonly Returned[] {
  const isSame = ({ token, txHash }: Returned) => token === added.token && txHash === added.txHash
  if (known.some(isSame)) return known
  const all = [...known, added]
  if (all.length <= MAX_RETURNED) return all
  const ofToken = all.filter(({ token }) => token === added.token)
  const smallest = ofToken.reduce((least, each) =>
    BigInt(each.amount) < BigInt(least.amount) ? each : least,
  )
  return smallest === added ? known : all.filter((each) => each !== smallest)
}

/** The id of a recovery: an op may have several, of several tokens. */
export const toRecoveryId = ({ op, token, txHash }: Recovery): string => `${op}/${token}/${txHash}`

export type Recovery = { op: string; token: string; txHash: string }

export function fromRecoveryId(id: string): Recovery {
  const [op = '', token = '', txHash = ''] = id.split('/')
  return { op, token, txHash }
}
