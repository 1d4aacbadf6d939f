import type { Sealer } from '../seal/sealer.ts'

/** Seals the secrets of endpoints, each for its account only. */
export type SecretSeal = {
  seal(accountId: string, secret: string): string
  /** Throws a ServiceError if no key opens it. */
  open(accountId: string, sealed: string): string
  isCurrent(sealed: string): boolean
}

export function createSecretSeal(sealer: Sealer): SecretSeal {
  return {
    seal: (accountId, secret) => sealer.seal('webhook', accountId, secret),
    open: (accountId, sealed) => String(sealer.open('webhook', accountId, sealed)),
    isCurrent: sealer.isCurrent,
  }
}
