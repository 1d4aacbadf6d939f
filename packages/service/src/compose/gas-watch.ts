import { formatUnits } from 'viem'
import type { NetworkConfig } from '../config.ts'
import type { ViewOfChain, Views } from '../lanes/views.ts'
import { type GasMarks, marksOf } from '../model/gas-float.ts'
import { activeOf, type ConnectedChain, type Senders } from './chains.ts'
import { floatOf } from './gas.ts'

type Seen = { marks: GasMarks; balances: Readonly<Record<string, bigint>> }
type KeyGas = { chain: string; address: string; isLow: boolean }
type FloatGas = { chain: string; address: string; coins: number; topUpsLeft: number }

export type GasWatch = {
  /** False only if the key's balance was read and is too low for its next transactions. */
  hasGas(chainId: number, address: string): boolean
  /** Whether new swaps can be locked here: at least one key has gas. */
  canLock(chainId: number): boolean
  /** Whether new swaps can be delivered here: at least one key has gas. */
  canDeliver(chainId: number): boolean
  keys(): KeyGas[]
  floats(): FloatGas[]
}

/** Watches the gas balances of all keys, by the views of the chains. */
export function createGasWatch(
  network: NetworkConfig,
  chains: readonly ConnectedChain[],
  views: Pick<Views, 'of'>,
): GasWatch {
  const byId = new Map(chains.map((chain) => [chain.config.chainId, chain]))
  const seenOn = (chain: ConnectedChain) => lookAt(network, chain, views.of(chain.config.chainId))

  function hasGas(chainId: number, address: string): boolean {
    const chain = byId.get(chainId)
    const known = chain && seenOn(chain)
    const balance = known?.balances[address]
    return known === undefined || balance === undefined || balance >= known.marks.dry
  }
  const active = (chainId: number, role: keyof Senders) => {
    const chain = byId.get(chainId)
    return chain ? activeOf(chain, role) : []
  }

  return {
    hasGas,
    canLock: (chainId) => active(chainId, 'relay').some((address) => hasGas(chainId, address)),
    canDeliver: (chainId) => active(chainId, 'deliver').some((address) => hasGas(chainId, address)),
    keys: () => chains.flatMap((chain) => keysOf(chain, seenOn(chain))),
    floats: () => chains.flatMap((chain) => toFloatGas(network, chain, seenOn(chain)) ?? []),
  }
}

const sendersOf = ({ senders }: ConnectedChain) => [...new Set(Object.values(senders).flat())]

function lookAt(
  network: NetworkConfig,
  chain: ConnectedChain,
  view: Pick<ViewOfChain, 'part'>,
): Seen | undefined {
  const [costs, state] = [view.part('costs'), view.part('state')]
  if (!costs || !state) return undefined
  return {
    marks: marksOf(costs.value, floatOf(network, chain)?.limits),
    balances: state.value.balances,
  }
}

function keysOf(connected: ConnectedChain, seen: Seen | undefined): KeyGas[] {
  if (!seen) return []
  return sendersOf(connected).map((address) => ({
    ...{ chain: connected.config.name, address },
    isLow: (seen.balances[address] ?? 0n) < seen.marks.low,
  }))
}

function toFloatGas(network: NetworkConfig, connected: ConnectedChain, seen: Seen | undefined) {
  const float = floatOf(network, connected)
  const balance = float && seen?.balances[float.address]
  if (!float || balance === undefined) return undefined
  const { config, nativeToken } = connected
  return {
    ...{ chain: config.name, address: float.address },
    coins: Number(formatUnits(balance, nativeToken.decimals)),
    topUpsLeft: Number(balance / (float.limits.target - float.limits.low)),
  }
}
