import { formatUnits } from 'viem'
import type { NetworkConfig } from '../config.ts'
import { type GasMarks, marksOf } from '../model/gas-float.ts'
import { activeOf, type ConnectedChain, type Senders } from './chains.ts'
import { floatOf } from './gas.ts'
import { atMostEvery } from './timing.ts'

// Gas lasts for days, and a key that runs dry has seconds: the swaps that it would hold up are not accepted yet.
const LOOK_MS = 5_000

type Seen = { marks: GasMarks; balances: ReadonlyMap<string, bigint> }
export type KeyGas = { chain: string; address: string; isLow: boolean }
export type FloatGas = { chain: string; address: string; coins: number; topUpsLeft: number }

export type GasWatch = {
  /** Each reads one chain, once in a while. A fault is thrown. */
  refreshers: readonly (() => Promise<void>)[]
  /** False only when the chain was seen to leave the key too little for its next transactions. */
  hasGas(chainId: number, address: string): boolean
  /** Whether new swaps can be locked here: by at least one key, since a swap is given to one that has gas. */
  canLock(chainId: number): boolean
  /** Whether all that is delivered here can be paid for: every key has its part of the work. */
  canDeliver(chainId: number): boolean
  keys(): KeyGas[]
  floats(): FloatGas[]
}

/** Remembers what the keys of every chain have left for gas. */
export function createGasWatch(network: NetworkConfig, chains: readonly ConnectedChain[]): GasWatch {
  const seen = new Map<number, Seen>()
  const byId = new Map(chains.map((chain) => [chain.config.chainId, chain]))

  function hasGas(chainId: number, address: string): boolean {
    const known = seen.get(chainId)
    const balance = known?.balances.get(address)
    return known === undefined || balance === undefined || balance >= known.marks.dry
  }
  const active = (chainId: number, role: keyof Senders) => {
    const chain = byId.get(chainId)
    return chain ? activeOf(chain, role) : []
  }

  return {
    refreshers: chains.map((chain) =>
      atMostEvery(LOOK_MS, async () => void seen.set(chain.config.chainId, await look(network, chain))),
    ),
    hasGas,
    canLock: (chainId) => active(chainId, 'relay').some((address) => hasGas(chainId, address)),
    canDeliver: (chainId) => active(chainId, 'deliver').every((address) => hasGas(chainId, address)),
    keys: () => chains.flatMap((chain) => keysOf(chain, seen.get(chain.config.chainId))),
    floats: () => chains.flatMap((chain) => toFloatGas(network, chain, seen.get(chain.config.chainId)) ?? []),
  }
}

const sendersOf = ({ senders }: ConnectedChain) => [...new Set(Object.values(senders).flat())]

async function look(network: NetworkConfig, connected: ConnectedChain): Promise<Seen> {
  const { chain, readGasBalance } = connected
  const float = floatOf(network, connected)
  const addresses = [...sendersOf(connected), ...(float ? [float.address] : [])]
  const [costs, ...balances] = await Promise.all([
    chain.readHeads().then((heads) => chain.readLegCosts(heads)),
    ...addresses.map(readGasBalance),
  ])
  return {
    marks: marksOf(costs, float?.limits),
    balances: new Map(addresses.map((address, index) => [address, balances[index] ?? 0n])),
  }
}

function keysOf(connected: ConnectedChain, seen: Seen | undefined): KeyGas[] {
  if (!seen) return []
  return sendersOf(connected).map((address) => ({
    ...{ chain: connected.config.name, address },
    isLow: (seen.balances.get(address) ?? 0n) < seen.marks.low,
  }))
}

function toFloatGas(network: NetworkConfig, connected: ConnectedChain, seen: Seen | undefined) {
  const float = floatOf(network, connected)
  const balance = float && seen?.balances.get(float.address)
  if (!float || balance === undefined) return undefined
  const { config, nativeToken } = connected
  return {
    ...{ chain: config.name, address: float.address },
    coins: Number(formatUnits(balance, nativeToken.decimals)),
    topUpsLeft: Number(balance / (float.limits.target - float.limits.low)),
  }
}
