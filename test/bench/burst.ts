import { geoVaultAbi } from '@geoswap/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import { now } from './clock.ts'
import { type Figure, isTrue } from './figures.ts'
import { readBaseline } from './machine.ts'
import type { Bench } from './network.ts'
import { spread } from './statistics.ts'
import {
  atPace,
  createTraders,
  INPUT,
  prepareSwaps,
  type Submission,
  submitAndFollow,
  type TimedSwap,
} from './traders.ts'

const WALLETS = 50
const SWAPS = 200
const WITHIN_MS = 10_000
const OWN_PACE_MS = 100
const STAGES = ['accepted', 'locking', 'locked', 'delivering', 'delivered']

/** Many swaps at once: all must settle, none twice. */
export async function measureBurst(bench: Bench): Promise<Figure[]> {
  const wallets = await createTraders(bench, WALLETS)
  const baseline = await readBaseline(bench)
  const prepared = await prepareSwaps(bench, wallets, SWAPS)
  const before = await readBooks(bench, wallets)
  bench.say(`submitting ${SWAPS} swaps of ${WALLETS} wallets`)
  const start = now()
  const timed = await submitAll(bench, prepared)
  const tookToSubmit = Math.max(...timed.map((swap) => swap.submittedAt)) - start
  const after = await readBooks(bench, wallets)
  const settled = timed.filter(({ status }) => status.status === 'settled')
  const delivered = settled.reduce((sum, { status }) => sum + BigInt(status.amounts.delivered ?? 0), 0n)
  const isBalanced =
    before.held - after.held === INPUT * BigInt(SWAPS) && after.received - before.received === delivered
  const deliveries = await countDeliveries(bench, before.block)
  const total = timed.map((swap) => swap.settledAt - swap.submittedAt)
  return [
    isTrue(`${SWAPS} swaps of ${WALLETS} wallets: settled`, {
      ok: settled.length === SWAPS && tookToSubmit < WITHIN_MS,
      measured: `${settled.length}, submitted in ${(tookToSubmit / 1_000).toFixed(1)} s`,
      goal: `all, submitted in ${WITHIN_MS / 1_000} s`,
    }),
    isTrue('· deliveries on the chain, balances', {
      ok: deliveries.count === SWAPS && deliveries.distinct === SWAPS && isBalanced,
      measured: `${deliveries.count} (${deliveries.distinct} distinct), ${isBalanced ? 'exact' : 'WRONG'}`,
      goal: 'one each, exact',
    }),
    { name: '· whole swap', measured: spread(total), baseline },
    ...stageFigures(timed),
  ]
}

/** All wallets at the same time, each with its swaps in quick succession: far faster than required. */
async function submitAll(bench: Bench, prepared: readonly Submission[]): Promise<TimedSwap[]> {
  const byWallet = new Map<string, Submission[]>()
  for (const one of prepared) {
    byWallet.set(one.wallet.address, [...(byWallet.get(one.wallet.address) ?? []), one])
  }
  const submit = (one: Submission) => submitAndFollow(bench, one)
  const timed = await Promise.all([...byWallet.values()].map((mine) => atPace(mine, OWN_PACE_MS, submit)))
  return timed.flat()
}

type Books = { held: bigint; received: bigint; block: bigint }

async function readBooks({ world }: Bench, wallets: readonly PrivateKeyAccount[]): Promise<Books> {
  const { alpha, beta } = world
  const sumOf = async (balances: Promise<bigint>[]) =>
    (await Promise.all(balances)).reduce((sum, balance) => sum + balance, 0n)
  return {
    held: await sumOf(wallets.map(({ address }) => alpha.balanceOf(address, 'USDC'))),
    received: await sumOf(wallets.map(({ address }) => beta.balanceOf(address, 'WETH'))),
    block: await beta.client.getBlockNumber(),
  }
}

async function countDeliveries({ world }: Bench, since: bigint) {
  const logs = await world.beta.client.getContractEvents({
    address: world.beta.contracts.vault,
    abi: geoVaultAbi,
    eventName: 'Delivered',
    fromBlock: since + 1n,
  })
  return { count: logs.length, distinct: new Set(logs.map((log) => log.args.delivery)).size }
}

function stageFigures(timed: readonly TimedSwap[]): Figure[] {
  return STAGES.slice(1).map((stage, index) => {
    const from = STAGES[index] ?? ''
    const times = timed.flatMap(({ status: { timeline } }) => {
      const at = (name: string) => timeline.find((entry) => entry.stage === name)?.at
      const [first, last] = [at(from), at(stage)]
      return first && last ? [Date.parse(last) - Date.parse(first)] : []
    })
    return { name: `· ${from} → ${stage}`, measured: spread(times), baseline: 'p50 / p95 / max' }
  })
}
