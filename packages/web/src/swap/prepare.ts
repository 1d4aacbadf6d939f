import {
  type AuthorizationFields,
  type Build,
  type Client,
  fromCallbacks,
  type QuoteReply,
  type QuoteRequest,
  type Signer,
  type Submission,
} from '@geoswap/sdk'

/** A request for the user's approval, after the SDK has checked it against the order. */
export type Approval =
  | { kind: 'authorization'; fields: AuthorizationFields }
  | { kind: 'operation'; build: Build; quote: QuoteReply; signed: string }

type Prepared = { submission: Submission; build: Build }

type Preparation = {
  request: QuoteRequest
  signer: Signer
  signal: AbortSignal
  /** Resolves if the user agrees; a refusal aborts the signal. */
  approve(approval: Approval): Promise<void>
}

/**
 * Quotes, builds, checks, asks for approval and signs. The submission is separate, since it has to survive a
 * reload.
 */
export async function prepareSwap(client: Client, preparation: Preparation): Promise<Prepared> {
  const { request, signal } = preparation
  const ready = new AbortController()
  let quote: QuoteReply | undefined
  let build: Build | undefined
  let submission: Submission | undefined
  const getOperation = () => {
    if (!build || !quote) throw new Error('Nothing was built')
    return { build, quote }
  }
  const signer = withApproval(preparation, getOperation)
  await client
    .swap(request, signer, {
      signal: AbortSignal.any([signal, ready.signal]),
      onProgress(progress) {
        if (progress.step === 'quoted') quote = progress.quote
        if (progress.step === 'built') build = progress.build
        if (progress.step !== 'submitting') return
        submission = progress.submission
        // Nothing was sent yet: an aborted signal stops the SDK before the submission.
        ready.abort()
      },
    })
    .catch((error: unknown) => {
      if (!submission) throw error
    })
  if (!submission || !build) throw new Error('The swap was not prepared')
  return { submission, build }
}

/** The same signer, with the user's approval first. The SDK calls it only with the result of its checks. */
function withApproval(
  { signer, approve }: Preparation,
  getOperation: () => { build: Build; quote: QuoteReply },
): Signer {
  const approveOperation = (signed: string) => approve({ kind: 'operation', ...getOperation(), signed })
  if (signer.family === 'solana')
    return fromCallbacks({
      family: 'solana',
      address: signer.address,
      async signTransaction(transaction) {
        await approveOperation(transaction)
        return signer.signTransaction(transaction)
      },
    })
  const { signAuthorization } = signer
  return fromCallbacks({
    family: 'evm',
    address: signer.address,
    async signHash(hash) {
      await approveOperation(hash)
      return signer.signHash(hash)
    },
    signAuthorization:
      signAuthorization &&
      (async (fields) => {
        await approve({ kind: 'authorization', fields })
        return signAuthorization(fields)
      }),
  })
}
