import type { Sealer } from '../seal/sealer.ts'

/** How the secrets of endpoints are sealed, for their account alone. */
export type SecretSeal = {
  seal(accountId: string, secret: string): string
  /** A ServiceError when no key of ours opens it. */
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
