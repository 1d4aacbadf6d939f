import { ServiceError } from '../errors.ts'

type Sides = { wallet: string; recipient: string; originChain: number; destinationChain: number }

/** The parties that a swap names, each on its chain. */
export function partiesOf({ wallet, recipient, originChain, destinationChain }: Sides) {
  return [
    { address: wallet, chainId: originChain, role: 'wallet' as const },
    { address: recipient, chainId: destinationChain, role: 'recipient' as const },
  ]
}

const RETRY_MS = 5_000

/** Tells a caller nothing but the decision: neither which address, nor by whom. */
export function assertServed(verdict: 'allow' | 'deny' | 'unknown'): void {
  if (verdict === 'deny') throw new ServiceError('ADDRESS_BLOCKED')
  if (verdict === 'unknown')
    throw new ServiceError('SERVICE_UNAVAILABLE', { recovery: { retryAfterMs: RETRY_MS } })
}
