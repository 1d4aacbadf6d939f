import type { OperatorSender } from '@geoswap/wire'
import type { Views } from '../../lanes/views.ts'
import type { ServedChain } from '../../model/served-chain.ts'

type IsLow = (chain: string, address: string) => boolean

// Balances older than this are not shown.
const KNOWN_FOR_MS = 60_000

/** Native balances of all sending keys, from the chains' views. */
export function readSenderBalances(
  chains: readonly ServedChain[],
  views: Pick<Views, 'of'>,
  isLow: IsLow,
): OperatorSender[] {
  function show(chain: ServedChain, role: OperatorSender['role'], address: string): OperatorSender {
    const { chainId, name, coin, retiring } = chain
    const state = views.of(chainId).part('state')
    const balance = state && state.ageMs < KNOWN_FOR_MS ? state.value.balances[address] : undefined
    return {
      chainId,
      address,
      role,
      isRetiring: retiring.includes(address),
      isLow: isLow(name, address),
      symbol: coin.symbol,
      decimals: coin.decimals,
      ...(balance !== undefined && { balance: balance.toString() }),
    }
  }
  return chains.flatMap((chain) => [
    ...chain.senders.relay.map((address) => show(chain, 'relay', address)),
    ...chain.senders.authorize.map((address) => show(chain, 'authorize', address)),
    ...chain.senders.deliver.map((address) => show(chain, 'deliver', address)),
  ])
}
