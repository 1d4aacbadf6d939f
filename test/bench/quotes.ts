import type { QuoteReply } from '@geoswap/wire'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Answer } from '../client.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { readTokens, unexplained, type Valued, worthOf } from '../values.ts'
import { until } from '../world.ts'
import { now } from './clock.ts'
import { type Figure, isTrue } from './figures.ts'
import type { Bench } from './network.ts'
import { createRandom, type Random } from './random.ts'
import { inGroups } from './traders.ts'

const QUOTES = 10_000
const AT_ONCE = 16
const WITHIN_SECONDS = 180
// Three times the 10 million dollars of each token in the vaults, so that many orders exceed them.
const MOST_USD = 30_000_000n
const MAX_U64 = 2n ** 64n - 1n
// The value that empty blocks converge to, so that it stays.
const LOWEST_BASE_FEE = 7n
const STILL_LOOKS = 25
const MOVED_AGAIN = 5
const MOST_UNAVAILABLE = QUOTES / 100

type Case = { input: Valued; output: Valued; amount: bigint; request: Record<string, unknown> }
type Parties = Record<Valued['family'], readonly string[]>
type BoundCode = 'NEEDS_LARGER_SIZE' | 'INSUFFICIENT_LIQUIDITY'
type Found = { code: 'OK' | BoundCode; problems: string[] }

const BOUNDS: Record<BoundCode, { field: 'minAmount' | 'maxAmount'; beyond: bigint }> = {
  NEEDS_LARGER_SIZE: { field: 'minAmount', beyond: -1n },
  INSUFFICIENT_LIQUIDITY: { field: 'maxAmount', beyond: 1n },
}

/**
 * Random orders over all chains and tokens: quotes cost the operator nothing, and reported bounds are exact.
 */
export async function checkQuotes(bench: Bench): Promise<Figure[]> {
  const { world, say, seed } = bench
  const random = createRandom(seed)
  const parties = await createParties(bench)
  const tokens = await readTokens(world)
  const cases = Array.from({ length: QUOTES }, () => randomCase(random, tokens, parties))
  await untilStill(bench)
  say(`${QUOTES} random quotes, seed ${seed}`)
  const start = now()
  const counts = { done: 0, asked: 0, unavailable: 0 }
  const ask: Ask = async (request) => {
    counts.asked += 1
    const reply = await world.api.quote(request)
    if (reply.status !== 503) return reply
    // A node was too slow on a busy machine: nothing was quoted, and a caller would retry.
    counts.unavailable += 1
    if (counts.unavailable > MOST_UNAVAILABLE)
      throw new Error(`more than ${MOST_UNAVAILABLE} quotes failed, the last with ${reply.body.code}`)
    return ask(request)
  }
  const found = await inGroups(cases, AT_ONCE, async (one) => {
    const result = await check(ask, one)
    counts.done += 1
    if (counts.done % (QUOTES / 10) === 0) say(`${counts.done} checked, ${counts.asked} asked`)
    return result
  })
  const seconds = (now() - start) / 1_000
  for (const problem of found.flatMap(({ problems }) => problems).slice(0, 10)) say(problem)
  return toFigures(found, { ...counts, seed, seconds })
}

type Ask = (request: object) => Promise<Answer<QuoteReply>>

type Run = { seed: number; asked: number; unavailable: number; seconds: number }

function toFigures(found: readonly Found[], run: Run): Figure[] {
  const about = (name: string, code: Found['code'], what: string) => {
    const those = found.filter((each) => each.code === code)
    const wrong = those.filter(({ problems }) => problems.length > 0).length
    const measured = `${wrong} wrong of ${those.length} ${what}`
    return isTrue(name, { ok: wrong === 0 && those.length > 0, measured, goal: 'none wrong' })
  }
  const baseline = `seed ${run.seed}`
  const measured = `${run.asked} asked in ${run.seconds.toFixed(0)} s, ${run.unavailable} answered 503`
  const isFast = run.seconds < WITHIN_SECONDS
  return [
    about(`${QUOTES} random quotes: the operator's value rule`, 'OK', 'quotes'),
    about('· NEEDS_LARGER_SIZE: passes at its bound, not below', 'NEEDS_LARGER_SIZE', 'bounds'),
    about('· INSUFFICIENT_LIQUIDITY: passes at its bound, not above', 'INSUFFICIENT_LIQUIDITY', 'bounds'),
    { name: '· time', measured, baseline, goal: `< ${WITHIN_SECONDS} s`, ok: isFast },
  ]
}

/** Wallets and recipients: on Solana one with a token account, and one with nothing. */
async function createParties({ world }: Bench): Promise<Parties> {
  const solana = await createSolanaWorld(world.local)
  const wallets = await Promise.all([solana.wallet(), solana.wallet({ USDC: 1n })])
  return {
    evm: [privateKeyToAddress(generatePrivateKey())],
    solana: wallets.map(({ address }) => address),
  }
}

function randomCase(random: Random, tokens: readonly Valued[], parties: Parties): Case {
  const input = random.pick(tokens)
  const output = random.pick(tokens.filter((token) => token !== input))
  const tradeType = random.pick(['exactInput', 'exactOutput'])
  const counted = tradeType === 'exactInput' ? input : output
  const beyond = (MOST_USD * 10n ** BigInt(18 + counted.decimals)) / counted.price
  const most = counted.family === 'solana' && beyond > MAX_U64 ? MAX_U64 : beyond
  const request = {
    ...{ originChain: input.chainId, inputToken: input.address },
    ...{ destinationChain: output.chainId, outputToken: output.address },
    ...{ walletAddress: random.pick(parties[input.family]), recipient: random.pick(parties[output.family]) },
    ...{ tradeType, slippageBps: random.integer(1, 5_000) },
  }
  return { input, output, amount: random.amountUpTo(most), request }
}

/** Lowers gas to its stable value, and waits until quotes no longer change. */
async function untilStill({ world }: Bench): Promise<void> {
  for (const { client, mine } of world.chains) {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: LOWEST_BASE_FEE })
    await mine()
  }
  const { alpha, beta } = world
  const wallet = privateKeyToAddress(generatePrivateKey())
  let last = ''
  let looks = 0
  await until(async () => {
    const { body } = await world.api.quote({
      ...{ originChain: alpha.chainId, inputToken: alpha.token('WETH'), walletAddress: wallet },
      ...{ destinationChain: beta.chainId, outputToken: beta.token('LINK'), amount: `${10n ** 18n}` },
    })
    const seen = JSON.stringify([body.output, body.fees])
    looks = seen === last ? looks + 1 : 0
    last = seen
    return looks >= STILL_LOOKS
  })
}

async function check(ask: Ask, one: Case, tries = MOVED_AGAIN): Promise<Found> {
  const reply = await ask(toRequest(one))
  if (reply.status === 200) return { code: 'OK', problems: problemsOf(one, reply.body) }
  const { code } = reply.body
  if (code !== 'NEEDS_LARGER_SIZE' && code !== 'INSUFFICIENT_LIQUIDITY')
    return { code: 'OK', problems: [describe(one, `${reply.status} ${code}`)] }
  const problems = await checkBound(ask, one, reply, code)
  // If the price moved between two answers, neither can be judged.
  const again = problems.length > 0 ? await ask(toRequest(one)) : reply
  const isMoved = JSON.stringify(again.body.recovery) !== JSON.stringify(reply.body.recovery)
  return isMoved && tries > 0 ? check(ask, one, tries - 1) : { code, problems }
}

/**
 * Requests a quote at the bound that an error names, which must pass, and one unit beyond it, which must not.
 */
async function checkBound(
  ask: Ask,
  one: Case,
  { body }: Answer<QuoteReply>,
  code: BoundCode,
): Promise<string[]> {
  const { field, beyond } = BOUNDS[code]
  const bound = BigInt(String(body.recovery?.[field]))
  const isOutside = code === 'NEEDS_LARGER_SIZE' ? one.amount < bound : one.amount > bound
  if (!isOutside) return [describe(one, `${code} though within its bound of ${bound}`)]
  const at = { ...one, amount: bound }
  const [inside, outside] = await Promise.all([
    ask(toRequest(at)),
    ask(toRequest({ ...one, amount: bound + beyond })),
  ])
  return [
    ...(inside.status === 200
      ? problemsOf(at, inside.body)
      : [describe(at, `a quote at the reported bound fails with ${inside.body.code}`)]),
    ...(outside.status === 200 ? [describe(at, `one unit beyond the bound of ${code} passes`)] : []),
  ]
}

const toRequest = ({ request, amount }: Case) => ({ ...request, amount: `${amount}` })

/** Describes how a quote breaks the rules about its value, its amount and its minimum output. */
function problemsOf(one: Case, reply: QuoteReply): string[] {
  const { tradeType, slippageBps } = one.request
  const [output, minOutput] = [BigInt(reply.output), BigInt(reply.minOutput)]
  const unit = worthOf(1n, one.input)
  // Without negative fees: a negative price impact must not hide an output that is too high.
  const fees = reply.fees.filter(({ amount }) => BigInt(amount) > 0n)
  const isExactInput = tradeType === 'exactInput'
  const least = isExactInput ? (output * BigInt(10_000 - Number(slippageBps))) / 10_000n : output
  const checks = {
    'gives more than it takes': unexplained({ ...reply, fees }, one) >= -unit,
    'keeps more than it says': unexplained(reply, one) <= unit,
    'is of another amount': BigInt(isExactInput ? reply.input : reply.output) === one.amount,
    'has another minimum than the slippage': minOutput === least && minOutput > 0n,
  }
  const wrong = Object.entries(checks).filter(([, isRight]) => !isRight)
  return wrong.map(([problem]) => describe(one, problem))
}

const describe = (one: Case, problem: string) => `${problem}: ${JSON.stringify(toRequest(one))}`
