import type { Pool } from 'pg'
import { createRecent } from '../async/cache.ts'
import type { Chain } from '../chains/chain.ts'
import type { ConnectedChain } from '../chains/family.ts'
import { mapIsolated } from '../isolate.ts'
import type { Attempt } from '../store/attempts.ts'
import { bookGas } from '../store/books.ts'
import { addSwapTimes, type SettledSwap } from '../store/ended-swaps.ts'
import { findUnseen, type WastedGas } from '../store/gas.ts'
import { readLedgerBalances } from '../store/ledger.ts'
import { type PriceE18, usdE18 } from '../swap/amount.ts'
import { isLate, plannedEtaSeconds, type RouteEnd } from '../swap/eta.ts'
import { lockDepthOf } from '../swap/finality.ts'
import { groupBy } from '../swap/group.ts'
import { sendersOf } from '../swap/served-chain.ts'
import type { Swap } from '../swap/swap.ts'
import type { Task } from './lane.ts'
import type { ViewOfChain } from './views.ts'

type Options = {
  pool: Pool
  chainId: number
  /** Balances that only gas lowers, by address; undefined while they are not known. */
  read(): Promise<ReadonlyMap<string, bigint> | undefined>
  /** The value of an amount of gas coin in millionths of a USD; undefined without a price. */
  usdE6Of(amount: bigint): bigint | undefined
}

/** Books the gas that was spent, whenever balances changed. Without a price it is booked later. */
export function createGasBook({ pool, chainId, read, usdE6Of }: Options): Task {
  let booked = ''
  return {
    topics: [`head:${chainId}`],
    async step() {
      const balances = await read()
      if (!balances) return
      const text = [...balances].join()
      if (text === booked || usdE6Of(0n) === undefined) return
      await bookGas(pool, { chainId, balances, usdE6Of: (amount) => usdE6Of(amount) ?? 0n })
      booked = text
    },
  }
}

type Prices = { priceOf(asset: string): PriceE18 | undefined }

const E12 = 10n ** 12n
// The ledger is not written more often either.
const READ_MS = 3_000

function readBalances(view: Pick<ViewOfChain, 'part'>, keys: readonly string[]) {
  const known = view.part('state')?.value.balances
  if (!known) return undefined
  return new Map(
    keys.flatMap((key) => {
      const balance = known[key]
      return balance === undefined ? [] : [[key, balance] as const]
    }),
  )
}

/** All fees paid so far, as a balance that only falls. */
async function readFees(pool: Pool, chainId: number, token: string) {
  const booked = await readLedgerBalances(pool, chainId)
  const paid = booked.find((each) => each.account === 'network' && each.token === token)
  return new Map([['network', -(paid?.amount ?? 0n)]])
}

type GasParts = { pool: Pool; prices: Prices }

/** Books the gas that the sending keys of a chain spend. The gas float pays top-ups, and is not one of them. */
export function createGasTask(
  { pool, prices }: GasParts,
  { config, family, senders, nativeToken }: ConnectedChain,
  view: Pick<ViewOfChain, 'part'>,
): Task {
  const { chainId } = config
  const readKeys = async () => readBalances(view, sendersOf({ senders }))
  // The ledger has the fees of other chains.
  const fees = createRecent(READ_MS, () => readFees(pool, chainId, nativeToken.address))
  return createGasBook({
    pool,
    chainId,
    read: family.traits.paysOnlyFees ? readKeys : fees.read,
    usdE6Of: gasValueOf({ prices }, config, nativeToken),
  })
}

/** The value of a chain's gas coin in millionths of a US dollar; undefined without a price. */
export function gasValueOf(
  { prices }: { prices: Prices },
  { native }: Pick<ConnectedChain['config'], 'native'>,
  { decimals }: Pick<ConnectedChain['nativeToken'], 'decimals'>,
) {
  return (amount: bigint): bigint | undefined => {
    const price = prices.priceOf(native.asset)
    return price && usdE18(amount, { decimals, price }) / E12
  }
}

type Deps = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'readCost'>
  /** The value of an amount of gas coin in millionths of a USD; undefined without a price. */
  usdE6Of(amount: bigint): bigint | undefined
}

/**
 * The gas that attempts wasted, in equal parts of the swaps that each was for. Reads the receipts of those without an
 * event. Money does not wait for it: what cannot be read or priced when the nonce is consumed is read again when that
 * is final.
 */
export function createWasteReader({ pool, chain, usdE6Of }: Deps) {
  const { chainId } = chain
  return async (over: readonly Attempt[]): Promise<WastedGas[]> => {
    if (!chain.readCost || over.length === 0) return []
    const sent = new Map(over.map((attempt) => [attempt.id, attempt]))
    const unseen = await findUnseen(pool, [...sent.keys()])
    const byAttempt = [...groupBy(unseen, ({ attemptId }) => attemptId)]
    const toSubject = ([id]: (typeof byAttempt)[number]) => ({ step: 'read cost', id })
    const costs = await mapIsolated([], byAttempt, toSubject, async ([attemptId]) => {
      const { txHash = '', raw } = sent.get(attemptId) ?? {}
      return chain.readCost?.(txHash, raw)
    })
    return costs.flatMap(({ item: [attemptId, swaps], result: cost }) => {
      if (!cost) return []
      return swaps.flatMap(({ swapId, eventId, swaps: count }) => {
        const fee = cost.fee / BigInt(count)
        const usdE6 = usdE6Of(fee)
        const hadEffect = cost.eventIds.includes(eventId)
        return hadEffect || usdE6 === undefined ? [] : [{ attemptId, swapId, chainId, fee, usdE6 }]
      })
    })
  }
}

type TimeKeeper = {
  pool: Pool
  endOf(chainId: number): RouteEnd
  onSettled(promise: 'kept' | 'late'): void
}

/** Records the durations of settled swaps in the background, and tells which were late. A crash loses the last. */
export function createTimeKeeper({ pool, endOf, onSettled }: TimeKeeper) {
  let settled: SettledSwap[] = []
  const task: Task = {
    topics: [],
    async step() {
      const noted = settled
      settled = []
      for (const { originChain, destinationChain, depth, durationsMs } of await addSwapTimes(pool, noted)) {
        const planned = plannedEtaSeconds(endOf(originChain), endOf(destinationChain), depth)
        for (const ms of durationsMs) onSettled(isLate(ms, planned) ? 'late' : 'kept')
      }
    },
  }
  function note({ id, op, exposedCents }: Swap): void {
    const { finality: rules } = endOf(op.originChain)
    // A swap without exposure was delivered after its input was final.
    const depth = exposedCents > 0n ? lockDepthOf(rules, op) : rules.hard
    settled.push({ swapId: id, depth })
  }
  return { note, task }
}
