import type { StatusReply } from '@geoswap/wire'
import type { PrivateKeyAccount } from 'viem/accounts'
import { type Order, outcomeOf, prepare, submitSwap } from '../world.ts'
import { delay, now } from './clock.ts'
import type { Bench } from './network.ts'

const USDC = 1_000_000n
const PREPARED_AT_ONCE = 8

export const INPUT = 10n * USDC

/** The parts of a bench that swapping needs. */
export type Trading = Pick<Bench, 'world' | 'say'>

export type Submission = { wallet: PrivateKeyAccount; submission: { geoOpToken: string; signature: string } }
/**
 * The times of a swap as its caller observed them: submit's answer, and the held read that reported its end.
 */
export type TimedSwap = { submittedAt: number; settledAt: number; status: StatusReply }

export function orderOf({ world }: Trading): Order {
  return { from: world.alpha, sell: 'USDC', to: world.beta, buy: 'WETH', amount: INPUT }
}

/** Funded wallets that have swapped once, so that they are delegated and every path is warm. */
export async function createTraders(bench: Trading, count: number): Promise<PrivateKeyAccount[]> {
  const { world, say } = bench
  say(`funding ${count} wallets and swapping once with each`)
  const wallets = await Promise.all(
    Array.from({ length: count }, () => world.walletWith(world.alpha, 'USDC', 1_000n * USDC)),
  )
  await inGroups(wallets, PREPARED_AT_ONCE, async (wallet) => {
    const { swapId } = await submitSwap(world, wallet, orderOf(bench))
    const { status } = await outcomeOf(world, swapId)
    if (status !== 'settled') throw new Error(`A first swap ended as ${status}`)
  })
  return wallets
}

/** Quotes, builds and signs this many swaps, with the wallets in turn. */
export async function prepareSwaps(
  bench: Trading,
  wallets: readonly PrivateKeyAccount[],
  count: number,
  order: (wallet: PrivateKeyAccount) => Order = () => orderOf(bench),
): Promise<Submission[]> {
  bench.say(`preparing ${count} swaps`)
  const turns = Array.from({ length: count }, (_, index) => wallets[index % wallets.length]).flatMap(
    (wallet) => wallet ?? [],
  )
  return inGroups(turns, PREPARED_AT_ONCE, async (wallet) => {
    const { submission } = await prepare(bench.world, wallet, order(wallet))
    return { wallet, submission }
  })
}

/** Submits one swap and follows it to its end with held reads. */
export async function submitAndFollow({ world }: Trading, { submission }: Submission): Promise<TimedSwap> {
  const { status, body } = await world.api.submit(submission)
  const submittedAt = now()
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  const outcome = await outcomeOf(world, body.swapId)
  return { submittedAt, settledAt: now(), status: outcome }
}

/** Starts one after the other at this rate, whatever the earlier ones do; the results in order. */
export async function atPace<T, R>(
  items: readonly T[],
  everyMs: number,
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const start = now()
  const runs: Promise<R>[] = []
  for (const [index, item] of items.entries()) {
    await delay(start + index * everyMs - now())
    runs.push(run(item))
  }
  return Promise.all(runs)
}

/** Runs all with at most this many at once; the results in order. */
export async function inGroups<T, R>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const queue = [...items.entries()]
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await run(next[1])
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}
