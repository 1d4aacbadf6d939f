import type { LegCosts } from '../model/catalog.ts'
import { type GasMarks, marksOf } from '../model/gas-float.ts'
import { describeGasNeed, fundingOf } from '../model/gas-funding.ts'
import { activeSenders, type Senders, type ServedChain, sendersOf } from '../model/served-chain.ts'
import type { Views } from './views.ts'

type Seen = { marks: GasMarks; balances: Readonly<Record<string, bigint>> }
type KeyGas = { chain: string; address: string; isLow: boolean }
type FloatGas = {
  chain: string
  address: string
  balance: bigint
  decimals: number
  topUpsLeft: number
}

export type GasWatch = {
  /** False only if the key's balance was read and is too low for its next transactions. */
  hasGas(chainId: number, address: string): boolean
  /** Whether new swaps can be locked here: at least one key has gas. */
  canLock(chainId: number): boolean
  /** Whether new swaps can be delivered here: at least one key has gas. */
  canDeliver(chainId: number): boolean
  /** Names the keys that have too little, with what each needs. */
  needs(chainId: number): string[]
  keys(): KeyGas[]
  floats(): FloatGas[]
}

/** Watches the gas balances of all keys, by the views of the chains. */
export function createGasWatch(chains: readonly ServedChain[], views: Pick<Views, 'of'>): GasWatch {
  const byId = new Map(chains.map((chain) => [chain.chainId, chain]))

  function look({ chainId, float }: ServedChain): Seen | undefined {
    const view = views.of(chainId)
    const [costs, state] = [view.part('costs'), view.part('state')]
    if (!costs || !state) return undefined
    return { marks: marksOf(costs.value, float?.limits), balances: state.value.balances }
  }
  function hasGas(chainId: number, address: string): boolean {
    const chain = byId.get(chainId)
    const known = chain && look(chain)
    const balance = known?.balances[address]
    return known === undefined || balance === undefined || balance >= known.marks.dry
  }
  function hasActive(chainId: number, role: keyof Senders): boolean {
    const chain = byId.get(chainId)
    return chain !== undefined && activeSenders(chain, role).some((address) => hasGas(chainId, address))
  }

  return {
    hasGas,
    canLock: (chainId) => hasActive(chainId, 'relay'),
    canDeliver: (chainId) => hasActive(chainId, 'deliver'),
    needs: (chainId) => {
      const [chain, costs] = [byId.get(chainId), views.of(chainId).part('costs')]
      return chain && costs ? needsOf(chain, costs.value, (address) => hasGas(chainId, address)) : []
    },
    keys: () => chains.flatMap((chain) => keysOf(chain, look(chain))),
    floats: () => chains.flatMap((chain) => floatGasOf(chain, look(chain)) ?? []),
  }
}

function needsOf(chain: ServedChain, costs: LegCosts, hasGas: (address: string) => boolean): string[] {
  const roles: readonly (keyof Senders)[] = ['relay', 'authorize', 'deliver']
  return roles.flatMap((role) =>
    activeSenders(chain, role)
      .filter((address) => !hasGas(address))
      .map((address) => {
        const amount = fundingOf(role, costs, { float: chain.float })
        return describeGasNeed(address, chain.name, amount, chain.coin)
      }),
  )
}

function keysOf(chain: ServedChain, seen: Seen | undefined): KeyGas[] {
  if (!seen) return []
  return sendersOf(chain).map((address) => ({
    chain: chain.name,
    address,
    isLow: (seen.balances[address] ?? 0n) < seen.marks.low,
  }))
}

function floatGasOf({ name, float, coin }: ServedChain, seen: Seen | undefined): FloatGas | undefined {
  const balance = float && seen?.balances[float.address]
  if (!float || balance === undefined) return undefined
  return {
    chain: name,
    address: float.address,
    balance,
    decimals: coin.decimals,
    topUpsLeft: Number(balance / (float.limits.target - float.limits.low)),
  }
}
