import type { Deposit } from '@geoswap/wire'
import type { FailureCode } from './outcome.ts'

/** The chain's facts about the deposit of a swap, as its row stores them: amounts are text. */
export type DepositFacts = Pick<Deposit, 'received' | 'txHash' | 'returned'>

export type Returned = NonNullable<DepositFacts['returned']>[number]

/** Why a swap failed whose input had to be deposited. */
export function depositFailure(received: bigint, inputAmount: bigint): FailureCode {
  if (received === 0n) return 'DEPOSIT_MISSING'
  return received < inputAmount ? 'DEPOSIT_TOO_SMALL' : 'OPERATION_EXPIRED'
}

/** The id of a recovery: an op may have several, of several tokens. */
export const toRecoveryId = ({ op, token, txHash }: Recovery): string => `${op}/${token}/${txHash}`

export type Recovery = { op: string; token: string; txHash: string }

export function fromRecoveryId(id: string): Recovery {
  const [op = '', token = '', txHash = ''] = id.split('/')
  return { op, token, txHash }
}
