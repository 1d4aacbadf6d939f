import type { Deposit, OriginMethod } from '@geoswap/wire'
import type { SwapState } from './lifecycle.ts'
import type { FailureCode } from './outcome.ts'

/** The chain's facts about the deposit of a swap, as its row stores them: amounts are text. */
export type DepositFacts = Pick<Deposit, 'received' | 'txHash' | 'returned'>

export type Returned = NonNullable<DepositFacts['returned']>[number]

/** Why a swap failed whose input had to be deposited. */
export function depositFailure(received: bigint, inputAmount: bigint): FailureCode {
  if (received === 0n) return 'DEPOSIT_MISSING'
  return received < inputAmount ? 'DEPOSIT_TOO_SMALL' : 'OPERATION_EXPIRED'
}

type ByMethod = { method?: OriginMethod | undefined }

/** An obstacle as the reason of a failure: what an op by deposit lacks is its deposit, which a reorg undid. */
export function failureOf({ method }: ByMethod, obstacle: FailureCode): FailureCode {
  return method === 'deposit' && obstacle === 'INPUT_UNAVAILABLE' ? 'DEPOSIT_MISSING' : obstacle
}

type Seen = { state: SwapState; input: bigint; until: Date; deposit: DepositFacts }

/** Says in words how to go on with a deposit, or where it goes. Undefined if there is nothing to say. */
export function nextOf({ state, input, until, deposit }: Seen): string | undefined {
  const received = BigInt(deposit.received ?? 0)
  const by = until.toISOString()
  if (state === 'awaitingDeposit') return nextToSend(input - received, received > 0n, by)
  if (deposit.returned) return undefined
  if (state === 'failed')
    return received > 0n
      ? 'The deposit goes back to the wallet, by the service or by `geoswap recover`.'
      : 'A deposit that still comes goes back to the wallet, by the service or by `geoswap recover`.'
  const more = received - input
  return more > 0n ? `${more} units were too many. They go back to the wallet after ${by}.` : undefined
}

function nextToSend(missing: bigint, isPart: boolean, by: string): string {
  if (missing <= 0n)
    return 'The deposit is complete and waits for liquidity. If none comes, it goes back to the wallet.'
  if (!isPart) return `Send ${missing} units of the input token to the address. They have to arrive by ${by}.`
  return `Send ${missing} more units by ${by}. Otherwise all of it goes back to the wallet.`
}

/** The id of a recovery: an op may have several, of several tokens. */
export const toRecoveryId = ({ op, token, txHash }: Recovery): string => `${op}/${token}/${txHash}`

export type Recovery = { op: string; token: string; txHash: string }

export function fromRecoveryId(id: string): Recovery {
  const [op = '', token = '', txHash = ''] = id.split('/')
  return { op, token, txHash }
}
