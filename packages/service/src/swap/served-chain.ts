import type { Family } from '@geoswap/wire'
import { ServiceError } from '../errors.ts'
import type { CatalogChain, ChainNow } from './catalog.ts'
import { describeSeconds, isTooSlow } from './finality.ts'
import type { FloatLimits } from './gas.ts'
import type { Share } from './group.ts'

/**
 * Keys that send transactions: for inputs, claims and refunds, for inputs with a delegation, and for deliveries.
 */
export type Senders = Record<'relay' | 'authorize' | 'deliver', readonly string[]>

/** The gas float of a chain, which tops up the sending keys. */
export type GasFloat = { address: string; limits: FloatLimits }

/** The configured facts of a chain that metrics, the operator's reads and the gas watch need. */
export type ServedChain = {
  chainId: number
  name: string
  family: Family
  nodes: number
  coin: { symbol: string; decimals: number }
  hardSeconds: number
  senders: Senders
  /** Senders that get no new work. */
  retiring: readonly string[]
  float: GasFloat | undefined
}

/** The keys of a chain that take new work. */
export function activeSenders(
  { senders, retiring }: Pick<ServedChain, 'senders' | 'retiring'>,
  role: keyof Senders,
): string[] {
  return senders[role].filter((address) => !retiring.includes(address))
}

/** All sending keys of a chain, each once. */
export function sendersOf({ senders }: Pick<ServedChain, 'senders'>): string[] {
  return [...new Set(Object.values(senders).flat())]
}

type Sharing = { active: readonly string[]; address: string; canSend(address: string): boolean }

/**
 * The share of the work of this key; undefined for a retired key. Keys that cannot send leave theirs to the others.
 * Workers may notice such a change at different times. For some seconds a swap may then have two keys, of which the
 * first to record its delivery sends it, or none.
 */
export function shareOf({ active, address, canSend }: Sharing): Share | undefined {
  const able = active.filter(canSend)
  const sharing = able.length > 0 ? able : active
  const index = sharing.indexOf(address)
  return index < 0 ? undefined : { index, of: sharing.length }
}

/** Addresses whose remote signer does not sign now, with the signer's place in the configuration, from 1. */
export type UnsignedKeys = Readonly<Record<string, number>>

/** Names the remote signers that do not sign for keys of a chain, by place and role. */
export function describeUnsigned(
  { name, senders, float }: Pick<ServedChain, 'name' | 'senders' | 'float'>,
  unsigned: UnsignedKeys,
): string[] {
  const roles = Object.entries({ ...senders, float: float ? [float.address] : [] })
  return [...new Set(Object.values(unsigned))].flatMap((place) => {
    const silent = roles.filter(([, addresses]) => addresses.some((address) => unsigned[address] === place))
    if (silent.length === 0) return []
    return [`remote signer ${place} does not sign for ${silent.map(([role]) => role).join(', ')} on ${name}`]
  })
}

// Delayed finality catches up within minutes.
const RETRY_AFTER_MS = 60_000

type Chain = Pick<CatalogChain, 'chainId' | 'name' | 'finality'>

/** Whether finality of the chain is so slow that its swaps have to wait. */
export function isLate(
  { finality }: Pick<Chain, 'finality'>,
  now: Pick<ChainNow, 'finalitySeconds'>,
): boolean {
  return isTooSlow(finality.hardSeconds, now.finalitySeconds)
}

/** Throws 503 while finality is too slow for the deadlines of a new op. */
export function assertNotLate(chain: Chain, now: Pick<ChainNow, 'finalitySeconds'>): void {
  const { finalitySeconds } = now
  if (finalitySeconds === undefined || !isLate(chain, now)) return
  const delay = describeSeconds(finalitySeconds - chain.finality.hardSeconds)
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `Finality of ${chain.name} takes ${delay} longer than usual, and swaps wait for it. Try again later.`,
    details: { chainId: chain.chainId, finalitySeconds: Math.round(finalitySeconds) },
    recovery: { retryAfterMs: RETRY_AFTER_MS },
  })
}

/** Throws 503 if attesters that this service does not know would decide the op: none of ours could claim its input. */
export function assertOwnAttesters(
  chain: Pick<Chain, 'chainId' | 'name'>,
  { attesterChange: change }: Pick<ChainNow, 'attesterChange'>,
  refundDeadline: number,
): void {
  if (change?.kind !== 'foreign' || refundDeadline < change.since) return
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `The escrow of ${chain.name} has attesters that are not of this service.`,
    details: { chainId: chain.chainId },
  })
}
