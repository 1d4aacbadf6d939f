import type { OperatorSender } from '@geoswap/wire'
import type { ConnectedChain } from './chains.ts'

type IsLow = (chain: string, address: string) => boolean

const READ_EVERY_MS = 10_000
// A balance that nobody confirmed for this long is not shown: it may be gone.
const KNOWN_FOR_MS = 60_000

/**
 * Gas coin of every key that sends transactions. Looking at them has them read in the background, so that whoever
 * looks never waits for a node: the first look shows none.
 */
export function createSenderBalances(
  chains: readonly ConnectedChain[],
  isLow: IsLow,
  now: () => number = Date.now,
) {
  const seen = new Map<string, { amount: bigint; at: number }>()
  let readAt = Number.NEGATIVE_INFINITY

  async function refresh({ config, senders, readGasBalance }: ConnectedChain): Promise<void> {
    const addresses = [...new Set(Object.values(senders).flat())]
    await Promise.allSettled(
      addresses.map(async (address) => {
        const amount = await readGasBalance(address)
        seen.set(`${config.chainId}:${address}`, { amount, at: now() })
      }),
    )
  }

  function show(chain: ConnectedChain, role: OperatorSender['role'], address: string): OperatorSender {
    const { config, nativeToken, retiring } = chain
    const balance = seen.get(`${config.chainId}:${address}`)
    const isKnown = balance !== undefined && now() - balance.at < KNOWN_FOR_MS
    return {
      ...{ chainId: config.chainId, address, role, isRetiring: retiring.includes(address) },
      isLow: isLow(config.name, address),
      ...{ symbol: config.native.symbol, decimals: nativeToken.decimals },
      ...(isKnown && { balance: balance.amount.toString() }),
    }
  }

  return {
    read(): OperatorSender[] {
      if (now() - readAt >= READ_EVERY_MS) {
        readAt = now()
        // A node that does not answer leaves the balance unknown, which is shown.
        for (const chain of chains) void refresh(chain)
      }
      return chains.flatMap((chain) => [
        ...chain.senders.relay.map((address) => show(chain, 'relay', address)),
        ...chain.senders.authorize.map((address) => show(chain, 'authorize', address)),
        ...chain.senders.deliver.map((address) => show(chain, 'deliver', address)),
      ])
    },
  }
}
