import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import { mapOwn } from '../isolate.ts'
import { bookTopUp, findAwaitingTopUp, sumTopUpsOfDay } from '../store/gas.ts'
import type { Lease } from '../store/lanes.ts'
import type { LegCosts } from '../swap/catalog.ts'
import { type FloatLimits, type GasMarks, marksOf, nextTopUp } from '../swap/gas.ts'
import { describeGasNeed, fundingOf } from '../swap/gas-funding.ts'
import {
  activeSenders,
  describeUnsigned,
  type Senders,
  type ServedChain,
  sendersOf,
} from '../swap/served-chain.ts'
import type { Sender } from './sender.ts'
import type { Views } from './views.ts'

type Seen = { marks: GasMarks; balances: Readonly<Record<string, bigint>>; ageMs: number }
type KeyGas = { chain: string; address: string; isLow: boolean }
type FloatGas = {
  chain: string
  address: string
  balance: bigint
  decimals: number
  topUpsLeft: number
}

export type GasWatch = {
  /** False if the key's balance was read and is too low for its next transactions, or its signer does not sign. */
  canSend(chainId: number, address: string): boolean
  /** Whether new work is for this key: it can send, and no transaction of it is stuck. */
  isFree(chainId: number, address: string): boolean
  /** Whether new swaps can be locked here: at least one key can send. */
  canLock(chainId: number): boolean
  /** Whether new swaps can be delivered here: at least one key can send. */
  canDeliver(chainId: number): boolean
  /** Names the keys that have too little, with what each needs. */
  needs(chainId: number): string[]
  /** Names the remote signers that do not sign for keys of the chain. */
  unsigned(chainId: number): string[]
  /** Keys and floats of the chains whose balances were read lately. */
  keys(): KeyGas[]
  floats(): FloatGas[]
}

const FRESH_MS = 60_000

/** Watches the gas balances and signers of all keys, by the views of the chains. */
export function createGasWatch(chains: readonly ServedChain[], views: Pick<Views, 'of'>): GasWatch {
  const byId = new Map(chains.map((chain) => [chain.chainId, chain]))

  function look({ chainId, float }: ServedChain): Seen | undefined {
    const view = views.of(chainId)
    const [costs, state] = [view.part('costs'), view.part('state')]
    if (!costs || !state) return undefined
    return { marks: marksOf(costs.value, float?.limits), balances: state.value.balances, ageMs: state.ageMs }
  }
  function lookLately(chain: ServedChain): Seen | undefined {
    const seen = look(chain)
    return seen && seen.ageMs <= FRESH_MS ? seen : undefined
  }
  function hasGas(chainId: number, address: string): boolean {
    const chain = byId.get(chainId)
    const seen = chain && look(chain)
    if (!seen) return true
    const balance = seen.balances[address]
    return balance === undefined || balance >= seen.marks.dry
  }
  function canSend(chainId: number, address: string): boolean {
    return hasGas(chainId, address) && views.of(chainId).unsigned()[address] === undefined
  }
  function hasActive(chainId: number, role: keyof Senders): boolean {
    const chain = byId.get(chainId)
    return chain !== undefined && activeSenders(chain, role).some((address) => canSend(chainId, address))
  }

  return {
    canSend,
    isFree: (chainId, address) => canSend(chainId, address) && !views.of(chainId).stuck().includes(address),
    canLock: (chainId) => hasActive(chainId, 'relay'),
    canDeliver: (chainId) => hasActive(chainId, 'deliver'),
    needs: (chainId) => {
      const [chain, costs] = [byId.get(chainId), views.of(chainId).part('costs')]
      return chain && costs ? needsOf(chain, costs.value, (address) => hasGas(chainId, address)) : []
    },
    unsigned: (chainId) => {
      const chain = byId.get(chainId)
      return chain ? describeUnsigned(chain, views.of(chainId).unsigned()) : []
    },
    keys: () => chains.flatMap((chain) => keysOf(chain, lookLately(chain))),
    floats: () => chains.flatMap((chain) => floatGasOf(chain, lookLately(chain))),
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

function floatGasOf({ name, float, coin }: ServedChain, seen: Seen | undefined): FloatGas[] {
  if (!float || !seen) return []
  const { address, limits } = float
  const balance = seen.balances[address]
  if (balance === undefined) return []
  const topUpsLeft = Number(balance / (limits.target - limits.low))
  return [{ chain: name, address, balance, decimals: coin.decimals, topUpsLeft }]
}

type TopUpDeps = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'readCoins' | 'readLegCosts' | 'planTransfer'>
  /** The address that represents the chain's native coin. */
  nativeToken: string
  limits: FloatLimits
  /** The sender of the gas float. */
  sender: Sender
  /** All keys that pay for transactions on this chain. */
  keys: readonly string[]
  /** The key's balance in the chain's view; undefined before the first reading. */
  balanceOf(key: string): bigint | undefined
}

// Locks cost more than transfers, and the price may double while a top-up waits.
const MARGIN = 4n

/**
 * Tops up one low key, unless a top-up of it is under way. The next follows once this one is mined: only then is the
 * balance of the float known again.
 */
export async function topUpLowest(deps: TopUpDeps, lease: Lease, heads: Heads): Promise<void> {
  const { pool, chain, limits, sender } = deps
  const { chainId } = chain
  const block = heads.head.number
  if (sender.room() <= 0) return
  const isEnough = (key: string) => (deps.balanceOf(key) ?? 0n) >= limits.low
  if (deps.keys.every(isEnough)) return
  const awaiting = await findAwaitingTopUp(pool, { chainId, block })
  const keys = await mapOwn(
    deps.keys.filter((address) => !awaiting.has(address)),
    async (address) => ({ address, balance: await chain.readCoins(address, heads.head) }),
  )
  if (keys.every(({ balance }) => balance >= limits.low)) return
  const [balance, costs, spentToday] = await Promise.all([
    chain.readCoins(sender.address, heads.head),
    chain.readLegCosts(heads),
    sumTopUpsOfDay(pool, chainId),
  ])
  const topUp = nextTopUp(keys, { limits, balance, spentToday, costOfOne: MARGIN * costs.lock })
  if (!topUp) return
  const { address, amount } = topUp
  const request = await chain.planTransfer({
    from: sender.address,
    to: address,
    token: deps.nativeToken,
    amount,
  })
  await sender.send(lease, heads, {
    role: 'topup',
    request,
    swapIds: [],
    record: (db, { attemptId }) =>
      bookTopUp(db, { attemptId, chainId, block, address, amount }, limits.maxPerDay),
  })
}
