import {
  intentOf,
  lockableUntil,
  type QuoteRequest,
  type SignatureLifetime,
  type SignatureStore,
} from '@geoswap/sdk'
import { keep, readStored } from '../storage.ts'

const NAME = 'signatures'
const DAY_SECONDS = 86_400

type Kept = Readonly<Record<string, SignatureLifetime>>

/**
 * Signatures that may still be used, in the browser: also after a reload and in other tabs no second one is
 * made for the same swap. They hold no secret.
 */
export const signatures: SignatureStore = {
  get: (intent) => readSignatures()[intent],
  set: (intent, life) => write({ ...readSignatures(), [intent]: life }),
  delete(intent) {
    const { [intent]: _gone, ...others } = readSignatures()
    write(others)
  },
}

/** A settled swap has used its signature. */
export function releaseSignature(request: QuoteRequest): void {
  signatures.delete(intentOf(request))
}

/** By intent, all that are kept: also those that can no longer be used. */
export function readSignatures(): Kept {
  return readStored<Kept>(NAME) ?? {}
}

function write(kept: Kept): void {
  const end = Date.now() / 1_000 - DAY_SECONDS
  const fresh = Object.entries(kept).filter(([, life]) => lockableUntil(life) > end)
  keep(NAME, Object.fromEntries(fresh), 'browser')
}
