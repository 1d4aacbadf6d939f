import type { QuoteRequest, StatusReply, SubmitReply } from '@geoswap/wire'
import { PaymentUnknownError, type Submission, SwapRefusedError } from './errors.ts'
import { cannotPay } from './methods.ts'
import { lockableUntil, type OpenSignatures } from './open-signatures.ts'
import { orAborted } from './retry.ts'
import type { DepositPayment, Signer } from './signers.ts'

type Signal = { signal?: AbortSignal | undefined }

type Deps = {
  openSignatures: Pick<OpenSignatures, 'assertUnasked' | 'keepAsked' | 'release'>
  calls: { status(swapId: string, options: Signal): Promise<StatusReply> }
  submit(submission: Submission, options: Signal): Promise<SubmitReply>
}

type Prepared = { request: QuoteRequest; submission: Submission; payment: DepositPayment | undefined }

export type PayProgress =
  | { step: 'submitted'; swapId: string }
  /** The signer is asked for a transfer to the op's own address, and it sent it. */
  | { step: 'paying'; payment: DepositPayment }
  | { step: 'paid'; txHash: string }

export type PayOptions = {
  signal?: AbortSignal | undefined
  onProgress?: ((progress: PayProgress) => void) | undefined
}
/** `txHash`: the transfer of the wallet, if the input comes in by one. */
export type Paid = { swapId: string; txHash?: string | undefined }

/** A wallet is asked for a transfer only until so long before it has to be on the chain. */
export const PAYMENT_MARGIN_MS = 15_000

/**
 * Submits a prepared swap, and has the wallet send its transfer if it pays by one: after the submission, since what
 * comes without a swap is not swapped, and once, whatever becomes of the answer.
 */
export async function pay(
  deps: Deps,
  { request, submission, payment }: Prepared,
  signer: Signer,
  { signal, onProgress }: PayOptions,
): Promise<Paid> {
  const { swapId, status } = await deps.submit(submission, { signal })
  onProgress?.({ step: 'submitted', swapId })
  // A swap that has ended was paid, or no longer can be.
  if (!payment || status !== 'pending') return { swapId }
  const send = senderOf(signer)
  // The notes may be lost: a transfer that has arrived is not asked for again.
  if (!isAwaited(await deps.calls.status(swapId, { signal }))) return { swapId }
  deps.openSignatures.assertUnasked(request, swapId)
  const release = () => deps.openSignatures.release(request, lockableUntil({ family: 'evm', ...payment }))
  if (Date.now() >= payment.until * 1_000 - PAYMENT_MARGIN_MS) {
    release()
    const message = 'It is too late for this transfer, and nothing was sent. Swap again.'
    throw new SwapRefusedError('PAYMENT_LATE', message, { swapId })
  }
  onProgress?.({ step: 'paying', payment })
  signal?.throwIfAborted()
  deps.openSignatures.keepAsked(request, payment, swapId)
  const ask = async () => {
    try {
      return await send(payment)
    } catch (error) {
      if (isUnsent(error)) release()
      throw error
    }
  }
  const txHash = await orAborted(ask, signal).catch((cause) => {
    throw isUnsent(cause) ? cause : new PaymentUnknownError(swapId, { cause })
  })
  onProgress?.({ step: 'paid', txHash })
  return { swapId, txHash }
}

const isAwaited = ({ substatus, deposit }: StatusReply): boolean =>
  substatus === 'awaitingDeposit' && BigInt(deposit?.received ?? 0) === 0n

function senderOf(signer: Signer): (payment: DepositPayment) => Promise<string> {
  const { sendTransaction, sendPayment } = signer.family === 'evm' ? signer : {}
  if (sendTransaction) return ({ transaction }) => sendTransaction(transaction)
  if (sendPayment) return sendPayment
  throw cannotPay('transfer')
}

// EIP-1193: the user rejected the request, did not permit it, or the wallet does not know it.
const UNSENT = [4001, 4100, 4200]

/** Whether the wallet says that it sent nothing. Any other error may have come after it did. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return hasCode(error)
  // viem: the node refused it, since the wallet cannot pay for gas.
  const isKnown = error instanceof SwapRefusedError || error.name === 'InsufficientFundsError'
  return isKnown || hasCode(error) || isUnsent(error.cause)
}

const hasCode = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && UNSENT.includes(error.code as number)
