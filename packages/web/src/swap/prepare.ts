import {
  type AuthorizationFields,
  type Build,
  type Client,
  fromCallbacks,
  intentOf,
  type OriginMethod,
  type QuoteReply,
  type QuoteRequest,
  type SignatureStore,
  type Signer,
  type Submission,
  SwapRefusedError,
  type TypedData,
} from '@geoswap/sdk'

/** A request for the user's approval, after the SDK has checked it against the order. */
export type Approval =
  | { kind: 'authorization'; fields: AuthorizationFields }
  | { kind: 'operation'; build: Build; quote: QuoteReply; method: OriginMethod | undefined; signed: string }

type Prepared = { submission: Submission; build: Build; lockableUntil: number }

type Preparation = {
  request: QuoteRequest
  signer: Signer
  signal: AbortSignal
  /** The client's store. */
  signatures: SignatureStore
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
  let method: OriginMethod | undefined
  let build: Build | undefined
  let signed: { submission: Submission; lockableUntil: number } | undefined
  const getOperation = () => {
    if (!build || !quote) throw new Error('Nothing was built')
    return { build, quote, method }
  }
  const signer = withApproval(preparation, getOperation)
  await client
    .swap(request, signer, {
      signal: AbortSignal.any([signal, ready.signal]),
      onProgress(progress) {
        if (progress.step === 'quoted') {
          quote = progress.quote
          method = progress.method
        }
        if (progress.step === 'built') build = progress.build
        if (progress.step !== 'submitting') return
        signed = progress
        // Nothing was sent yet: an aborted signal stops the SDK before the submission.
        ready.abort()
      },
    })
    .catch((error: unknown) => {
      if (!signed) throw error
    })
  if (!signed || !build) throw new Error('The swap was not prepared')
  return { submission: signed.submission, lockableUntil: signed.lockableUntil, build }
}

/** The same signer, with the user's approval first. The SDK calls it only with the result of its checks. */
function withApproval(
  { signer, approve, request, signatures }: Preparation,
  getOperation: () => { build: Build; quote: QuoteReply; method: OriginMethod | undefined },
): Signer {
  const approveOperation = async (signed: string) => {
    await approve({ kind: 'operation', ...getOperation(), signed })
    // The user may have signed in another tab meanwhile. An older signature was refused before.
    if (signatures.get(intentOf(request)) === undefined) return
    throw new SwapRefusedError(
      'SIGNATURE_OPEN',
      'This swap was signed in another tab. Nothing was signed here.',
    )
  }
  if (signer.family === 'solana')
    return fromCallbacks({
      family: 'solana',
      address: signer.address,
      async signTransaction(transaction) {
        await approveOperation(transaction)
        return signer.signTransaction(transaction)
      },
    })
  const { signAuthorization, signTypedData } = signer
  return fromCallbacks({
    family: 'evm',
    address: signer.address,
    async signHash(hash) {
      await approveOperation(hash)
      return signer.signHash(hash)
    },
    signTypedData:
      signTypedData &&
      (async (typedData) => {
        await approveOperation(toShown(typedData, getOperation().build))
        return signTypedData(typedData)
      }),
    signAuthorization:
      signAuthorization &&
      (async (fields) => {
        await approve({ kind: 'authorization', fields })
        return signAuthorization(fields)
      }),
  })
}

/** The hash of the op, which is the digest of its typed data; of a token's typed data, its fields. */
function toShown({ primaryType, message }: TypedData, build: Build): string {
  return primaryType === 'GeoOp' && build.origin === 'evm' ? build.geoOpHash : JSON.stringify(message)
}
