import { geoVaultAbi } from '@geoswap/protocol'
import type { BuildSolanaTxReply, SubmitReply } from '@geoswap/wire'
import type { KeyPairSigner } from '@solana/kit'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAddress } from 'viem/accounts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { outcomeOf, quoteOnceSettled } from '../world.ts'
import { now } from './clock.ts'
import { below, type Figure, isTrue } from './figures.ts'
import { readBaseline } from './machine.ts'
import type { Bench } from './network.ts'
import type { RpcLog } from './rpc-proxy.ts'
import { median, percentile, spread } from './statistics.ts'
import { atPace, createTraders, inGroups, prepareSwaps, type TimedSwap } from './traders.ts'

const USDC = 1_000_000n
const INPUT = 10n * USDC
const WALLETS = 25
const SWAPS = 100
const EVERY_MS = 50
const BURST_EVERY_MS = 90
const BURST_WITHIN_MS = 10_000
const PREPARED_AT_ONCE = 8
const DELIVERED = { abi: geoVaultAbi, eventName: 'Delivered' } as const

/**
 * The latency of a transaction to the node at 20 per second, then a hundred swaps each way between Solana and
 * alpha.
 */
export async function measureSolana(bench: Bench): Promise<Figure[]> {
  const solana = await createSolanaWorld(bench.world.local)
  const wallets = await createWallets(bench, solana)
  return [
    ...(await measureSubmits(bench, solana, wallets)),
    ...(await measureBothWays(bench, solana, wallets)),
  ]
}

/** Funded wallets that have swapped twice, so that every path is warm. */
async function createWallets(bench: Bench, solana: SolanaWorld): Promise<KeyPairSigner[]> {
  bench.say(`funding ${WALLETS} wallets on Solana and swapping twice with each`)
  const wallets = await Promise.all(
    Array.from({ length: WALLETS }, () => solana.wallet({ USDC: 1_000n * USDC })),
  )
  const first = await prepareInputs(bench, solana, wallets, 2 * WALLETS)
  await inGroups(first, PREPARED_AT_ONCE, (one) => submitAndFollow(bench, one))
  return wallets
}

type Signed = { wallet: KeyPairSigner; submission: { geoOpToken: string; signedTransaction: string } }

async function measureSubmits(
  bench: Bench,
  solana: SolanaWorld,
  wallets: readonly KeyPairSigner[],
): Promise<Figure[]> {
  const baseline = await readBaseline(bench)
  const prepared = await prepareInputs(bench, solana, wallets, SWAPS)
  await bench.proxy.call('take')
  bench.say(`submitting ${SWAPS} transactions, ${1_000 / EVERY_MS} per second`)
  const timed = await atPace(prepared, EVERY_MS, (one) => submitAndFollow(bench, one))
  const log = await bench.proxy.call('take')
  const toNode = timesToNode(timed, log)
  bench.say(`matched ${toNode.length} of ${SWAPS} swaps; submit to node ${spread(toNode)}`)
  bench.say(`RPC calls per swap: ${callsPerSwap(log)}`)
  return [
    below('Submit-solana to the node, p50', { value: median(toNode), limit: 50, baseline }),
    below('Submit-solana to the node, p95', { value: percentile(toNode, 0.95), limit: 150, baseline }),
  ]
}

function timesToNode(timed: readonly TimedSwap[], log: RpcLog): number[] {
  const sent = new Map(log.sent.toReversed().map((transaction) => [transaction.txHash, transaction]))
  return timed.flatMap(({ submittedAt, status }) => {
    const input = sent.get(status.originTxHash ?? '')
    return input ? [input.answeredAt - submittedAt] : []
  })
}

function callsPerSwap({ calls }: RpcLog): string {
  return Object.entries(calls)
    .filter(([name]) => name.includes(' solana '))
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${(count / SWAPS).toFixed(1)}`)
    .join(', ')
}

/** Quotes, builds and signs: USDC on Solana to USDC on alpha, each to its own recipient. */
async function prepareInputs(
  { world, say }: Bench,
  solana: SolanaWorld,
  wallets: readonly KeyPairSigner[],
  count: number,
): Promise<Signed[]> {
  say(`preparing ${count} swaps out of Solana`)
  const turns = Array.from({ length: count }, (_, index) => wallets[index % wallets.length]).flatMap(
    (wallet) => wallet ?? [],
  )
  return inGroups(turns, PREPARED_AT_ONCE, async (wallet) => {
    const { geoQuoteToken } = await quoteOnceSettled(world.api, {
      ...{ originChain: solana.chainId, inputToken: solana.token('USDC'), amount: `${INPUT}` },
      ...{ destinationChain: world.alpha.chainId, outputToken: world.alpha.token('USDC') },
      ...{ walletAddress: wallet.address, recipient: privateKeyToAddress(generatePrivateKey()) },
    })
    const { status, body } = await world.api.call<BuildSolanaTxReply>('POST', '/swap/build-solana-tx', {
      geoQuoteToken,
    })
    if (status !== 200) throw new Error(`build: ${status} ${body.code} ${body.message}`)
    const signedTransaction = await solana.signTransaction(wallet, body.unsignedTransaction)
    return { wallet, submission: { geoOpToken: body.geoOpToken, signedTransaction } }
  })
}

async function submitAndFollow({ world }: Bench, { submission }: Signed): Promise<TimedSwap> {
  const { status, body } = await world.api.call<SubmitReply>('POST', '/swap/submit-solana', submission)
  const submittedAt = now()
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  const outcome = await outcomeOf(world, body.swapId)
  return { submittedAt, settledAt: now(), status: outcome }
}

async function measureBothWays(
  bench: Bench,
  solana: SolanaWorld,
  wallets: readonly KeyPairSigner[],
): Promise<Figure[]> {
  const { world, say } = bench
  const traders = await createTraders(bench, WALLETS)
  const recipients = await Promise.all(traders.map(() => solana.wallet()))
  const inbound = await prepareSwaps(bench, traders, SWAPS, (trader) => ({
    ...{ from: world.alpha, sell: 'USDC', amount: INPUT, to: solana, buy: 'USDC' },
    recipient: getAt(recipients, traders.indexOf(trader)).address,
  }))
  const outbound = await prepareInputs(bench, solana, wallets, SWAPS)
  const before = await readBooks(bench, solana, { wallets, traders, recipients })
  say(`submitting ${SWAPS} swaps each way`)
  const start = now()
  const [out, into] = await Promise.all([
    atPace(outbound, BURST_EVERY_MS, (one) => submitAndFollow(bench, one)),
    atPace(inbound, BURST_EVERY_MS, (one) => submitInbound(bench, one)),
  ])
  const all = [...out, ...into]
  const tookToSubmit = Math.max(...all.map(({ submittedAt }) => submittedAt)) - start
  const after = await readBooks(bench, solana, { wallets, traders, recipients })
  const settled = all.filter(({ status }) => status.status === 'settled').length
  const isExact = isBalanced({ before, after }, { out, into })
  const paid = after.deliveries - before.deliveries
  const deliveries = new Set(out.map(({ status }) => status.deliveryTxHash)).size
  return [
    isTrue(`${SWAPS} swaps each way between Solana and alpha: settled`, {
      ok: settled === 2 * SWAPS && tookToSubmit < BURST_WITHIN_MS,
      measured: `${settled}, submitted in ${(tookToSubmit / 1_000).toFixed(1)} s`,
      goal: `all, submitted in ${BURST_WITHIN_MS / 1_000} s`,
    }),
    isTrue('· delivered once each, balances', {
      ok: isExact && paid === SWAPS,
      measured: `${paid} on alpha in ${deliveries} transactions, ${isExact ? 'exact' : 'WRONG'}`,
      goal: 'one each, exact',
    }),
    { name: '· out of Solana', measured: spread(out.map(tookOf)), baseline: 'p50 / p95 / max' },
    { name: '· into Solana', measured: spread(into.map(tookOf)), baseline: 'p50 / p95 / max' },
  ]
}

const tookOf = ({ submittedAt, settledAt }: TimedSwap) => settledAt - submittedAt

function getAt<T>(items: readonly T[], index: number): T {
  const found = items[index]
  if (found === undefined) throw new Error('There is no such item')
  return found
}

type Submission = { submission: { geoOpToken: string; signature: string } }

async function submitInbound({ world }: Bench, { submission }: Submission): Promise<TimedSwap> {
  const { status, body } = await world.api.submit(submission)
  const submittedAt = now()
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  const outcome = await outcomeOf(world, body.swapId)
  return { submittedAt, settledAt: now(), status: outcome }
}

type Parties = {
  wallets: readonly KeyPairSigner[]
  traders: readonly PrivateKeyAccount[]
  recipients: readonly KeyPairSigner[]
}
type Books = { paidOnSolana: bigint; paidOnAlpha: bigint; gotOnSolana: bigint; deliveries: number }

async function readBooks({ world }: Bench, solana: SolanaWorld, parties: Parties): Promise<Books> {
  const { alpha } = world
  const sumOf = async (balances: Promise<bigint>[]) =>
    (await Promise.all(balances)).reduce((sum, balance) => sum + balance, 0n)
  const onSolana = (owners: readonly KeyPairSigner[]) =>
    sumOf(owners.map(({ address }) => solana.balanceOf(address, solana.token('USDC'))))
  const events = { address: alpha.contracts.vault, fromBlock: 0n, ...DELIVERED }
  return {
    paidOnSolana: await onSolana(parties.wallets),
    paidOnAlpha: await sumOf(parties.traders.map(({ address }) => alpha.balanceOf(address, 'USDC'))),
    gotOnSolana: await onSolana(parties.recipients),
    deliveries: (await alpha.client.getContractEvents(events)).length,
  }
}

type Ways = { out: readonly TimedSwap[]; into: readonly TimedSwap[] }

function isBalanced({ before, after }: { before: Books; after: Books }, { into }: Ways): boolean {
  const delivered = into.reduce((sum, { status }) => sum + BigInt(status.amounts.delivered ?? 0), 0n)
  const taken = INPUT * BigInt(SWAPS)
  return (
    before.paidOnSolana - after.paidOnSolana === taken &&
    before.paidOnAlpha - after.paidOnAlpha === taken &&
    after.gotOnSolana - before.gotOnSolana === delivered
  )
}
