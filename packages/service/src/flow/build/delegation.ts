import type { DelegationReply } from '@geoswap/wire'
import type { Delegation, OriginChain } from '../../chains/chain.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import { accountOn, findChain, toCaip2, toCaip10 } from '../../model/caip.ts'
import type { Catalog, CatalogChain } from '../../model/catalog.ts'
import { readOrUnavailable } from './read-chain.ts'

type DelegationDeps = {
  catalog: Catalog
  originOf(chainId: number): OriginChain
  parseAddress(family: CatalogChain['family'], text: string): string | undefined
  /** The contract that an undelegated wallet has to delegate to. */
  delegationTargetOf(chainId: number): string
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
  const wallet = 'address' in named ? deps.parseAddress(chain.family, named.address) : undefined
  if (!wallet) {
    const message = 'problem' in named ? named.problem : `is not an address on ${chain.name}`
    throw invalidRequest({ field: 'walletAddress', message })
  }
  const state = await readOrUnavailable(chain, deps.originOf(chain.chainId).readDelegation(wallet))
  if (state.kind === 'ours') deps.rememberDelegated(chain.chainId, wallet)
  const targetOf = () => deps.delegationTargetOf(chain.chainId)
  const caip = { chainId: caip2, walletAddress: toCaip10(caip2, wallet) }
  return { chainId: chain.chainId, walletAddress: wallet, caip, ...toReply(state, targetOf) }
}

function toReply(state: Delegation, targetOf: () => string) {
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
