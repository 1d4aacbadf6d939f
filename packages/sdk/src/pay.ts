import type { QuoteRequest, SubmitReply } from '@geoswap/wire'
import { type Submission, SwapRefusedError } from './errors.ts'
import type { OpenSignatures } from './open-signatures.ts'
import { nowSeconds, orAborted } from './retry.ts'
import type { DepositPayment, Signer } from './signers.ts'

type Deps = {
  openSignatures: Pick<OpenSignatures, 'keepAsked' | 'release'>
  submit(submission: Submission, options: { signal?: AbortSignal | undefined }): Promise<SubmitReply>
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
  if (nowSeconds() >= payment.until)
    throw new SwapRefusedError('PAYMENT_LATE', 'It is too late for this transfer: nothing was sent.')
  signal?.throwIfAborted()
  deps.openSignatures.keepAsked(request, payment)
  onProgress?.({ step: 'paying', payment })
  const ask = async () => {
    try {
      return await send(payment)
    } catch (error) {
      if (isUnsent(error)) deps.openSignatures.release(request)
      throw error
    }
  }
  const txHash = await orAborted(ask, signal)
  onProgress?.({ step: 'paid', txHash })
  return { swapId, txHash }
}

function senderOf(signer: Signer): (payment: DepositPayment) => Promise<string> {
  const { sendTransaction, sendPayment } = signer.family === 'evm' ? signer : {}
  if (sendTransaction) return ({ transaction }) => sendTransaction(transaction)
  if (sendPayment) return sendPayment
  throw new SwapRefusedError('SIGNER', 'This signer cannot send the transfer that pays the swap.')
}

// EIP-1193: the user rejected the request, did not permit it, or the wallet does not know it.
const UNSENT = [4001, 4100, 4200]

/** Whether the wallet says that it sent nothing. Any other error may have come after it did. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return hasCode(error)
  return error instanceof SwapRefusedError || hasCode(error) || isUnsent(error.cause)
}

const hasCode = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && UNSENT.includes(error.code as number)
