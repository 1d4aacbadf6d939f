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

/** What the user is asked for, after the SDK has found it to be what was ordered. */
export type Approval =
  | { kind: 'authorization'; fields: AuthorizationFields }
  | { kind: 'operation'; build: Build; quote: QuoteReply; signed: string }

export type Prepared = { submission: Submission; build: Build }

type Preparation = {
  request: QuoteRequest
  signer: Signer
  signal: AbortSignal
  /** Resolves when the user agrees; a user who does not aborts the signal. */
  approve(approval: Approval): Promise<void>
}

/** Quote, build, checks, approvals, signature: all but the submission, which has to survive a reload. */
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
        // Nothing was sent yet: an aborted signal stops the SDK before it does.
        ready.abort()
      },
    })
    .catch((error: unknown) => {
      if (!submission) throw error
    })
  if (!submission || !build) throw new Error('The swap was not prepared')
  return { submission, build }
}

/** The same signer, asking first. The SDK calls it only with what its checks returned. */
function withApproval(
  { signer, approve }: Preparation,
  getOperation: () => { build: Build; quote: QuoteReply },
): Signer {
  const approveOperation = (signed: string) => approve({ kind: 'operation', ...getOperation(), signed })
  if (signer.family === 'solana')
    return fromCallbacks({
      ...{ family: 'solana', address: signer.address },
      async signTransaction(transaction) {
        await approveOperation(transaction)
        return signer.signTransaction(transaction)
      },
    })
  const { signAuthorization } = signer
  return fromCallbacks({
    ...{ family: 'evm', address: signer.address },
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
