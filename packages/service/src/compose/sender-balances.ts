import type { OperatorSender } from '@geoswap/wire'
import type { Views } from '../lanes/views.ts'
import type { ConnectedChain } from './chains.ts'

type IsLow = (chain: string, address: string) => boolean

// Balances older than this are not shown.
const KNOWN_FOR_MS = 60_000

/** Native balances of all sending keys, from the chains' views. */
export function createSenderBalances(
  chains: readonly ConnectedChain[],
  views: Pick<Views, 'of'>,
  isLow: IsLow,
) {
  function show(chain: ConnectedChain, role: OperatorSender['role'], address: string): OperatorSender {
    const { config, nativeToken, retiring } = chain
    const state = views.of(config.chainId).part('state')
    const balance = state && state.ageMs < KNOWN_FOR_MS ? state.value.balances[address] : undefined
    return {
      chainId: config.chainId,
      address,
      role,
      isRetiring: retiring.includes(address),
      isLow: isLow(config.name, address),
      symbol: config.native.symbol,
      decimals: nativeToken.decimals,
      ...(balance !== undefined && { balance: balance.toString() }),
    }
  }

  return {
    read: (): OperatorSender[] =>
      chains.flatMap((chain) => [
        ...chain.senders.relay.map((address) => show(chain, 'relay', address)),
        ...chain.senders.authorize.map((address) => show(chain, 'authorize', address)),
        ...chain.senders.deliver.map((address) => show(chain, 'deliver', address)),
      ]),
  }
}
