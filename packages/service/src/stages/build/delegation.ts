import type { DelegationReply } from '@geoswap/wire'
import type { Delegation, OriginChain } from '../../chains/chain.ts'
import type { AddressRules } from '../../chains/family.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import {
  accountOn,
  type Catalog,
  type CatalogChain,
  findChain,
  toCaip2,
  toCaip10,
} from '../../swap/catalog.ts'

// Time for one silent node and the answer of the next, within the route's own timeout.
const MAX_WAIT_MS = 15_000

// Half of a provider's backends may lag by a block or two.
const AGAIN_MS = [50, 100, 150, 200, 300]

type Chain = { chainId: number; name: string }

/**
 * Reads a wallet that has to hold this amount, and asks again while it holds less: a lagging backend does not know of a
 * payment that the wallet has just received.
 */
export async function readHolder<T extends { balance: bigint }>(
  chain: Chain,
  amount: bigint,
  read: () => Promise<T>,
): Promise<T> {
  let holder = await readOrUnavailable(chain, read())
  for (const ms of AGAIN_MS) {
    if (holder.balance >= amount) return holder
    await new Promise((resolve) => setTimeout(resolve, ms))
    holder = await readOrUnavailable(chain, read())
  }
  return holder
}

/** Answers 503 if no node answers: the chain is unavailable, and the caller may retry. */
export async function readOrUnavailable<T>(chain: Chain, reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('No node answered in time')), MAX_WAIT_MS)
  })
  try {
    return await Promise.race([reading, late])
  } catch (cause) {
    throw new ServiceError('CHAIN_UNAVAILABLE', {
      message: `Chain ${chain.name} does not answer. Try again in a few seconds.`,
      details: { chainId: chain.chainId },
      recovery: { retryAfterMs: 2_000 },
      cause,
    })
  } finally {
    clearTimeout(timer)
  }
}

type DelegationDeps = {
  catalog: Catalog
  originOf(chainId: number): OriginChain
  addressesOf(chain: Pick<CatalogChain, 'family'>): Pick<AddressRules, 'parse' | 'form'>
  /** The contract that an undelegated wallet has to delegate to. */
  delegationTargetOf(chainId: number): string | undefined
  rememberDelegated(chainId: number, wallet: string): void
}

/** Reads whether the wallet can swap from this chain and, if it cannot, the fields to sign. */
export async function delegation(
  deps: DelegationDeps,
  query: { chainId: number | string; walletAddress: string },
): Promise<DelegationReply> {
  const chain = findChain(deps.catalog, query.chainId)
  if (!chain) throw new ServiceError('UNSUPPORTED_CHAIN', { details: { chainId: query.chainId } })
  const caip2 = toCaip2(chain)
  const named = accountOn(caip2, query.walletAddress)
  const addresses = deps.addressesOf(chain)
  const wallet = 'address' in named ? addresses.parse(named.address) : undefined
  if (!wallet) {
    const message = 'problem' in named ? named.problem : `must be ${addresses.form}`
    throw invalidRequest({ field: 'walletAddress', message })
  }
  const reading = deps.originOf(chain.chainId).readDelegation?.(wallet)
  const state: Delegation = reading ? await readOrUnavailable(chain, reading) : { kind: 'unneeded' }
  if (state.kind === 'ours') deps.rememberDelegated(chain.chainId, wallet)
  const targetOf = () => deps.delegationTargetOf(chain.chainId)
  const caip = { chainId: caip2, walletAddress: toCaip10(caip2, wallet) }
  return { chainId: chain.chainId, walletAddress: wallet, caip, ...toReply(state, targetOf) }
}

function toReply(state: Delegation, targetOf: () => string | undefined) {
  switch (state.kind) {
    case 'ours':
      return { delegated: true, originReady: true, delegatedTo: state.delegate }
    case 'foreign':
      return { delegated: true, originReady: false, delegatedTo: state.delegate }
    case 'older': {
      const fields = { delegationTarget: targetOf(), accountNonce: state.nonce }
      return { delegated: true, originReady: false, delegatedTo: state.delegate, ...fields }
    }
    case 'unneeded':
      return { delegated: false, originReady: true }
    case 'contract':
      return { delegated: false, originReady: false }
    case 'none':
      return {
        delegated: false,
        originReady: false,
        delegationTarget: targetOf(),
        accountNonce: state.nonce,
      }
  }
}
