import { undoneOf } from './books.ts'
import type { AttemptRow, SwapRow } from './database.ts'
import { type Check, type Evidence, each, eachAsync } from './evidence.ts'
import type { OpEventKind } from './evm-evidence.ts'
import { landedGifts } from './gifts.ts'
import type { Input, Party } from './input.ts'

// The cost of strangers: the gas that they make the operator waste, and what they take away.

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

// The service's defaults, in cents an hour.
export const BUDGETS = { wallet: 200, account: 2_000, chain: 10_000 }
type Scope = keyof typeof BUDGETS
const EFFECTS: Readonly<Record<string, OpEventKind>> = { lock: 'lock', deliver: 'deliver', refund: 'refund' }
const ETH_USD = 2_500

/** The part of a transaction's fee that was wasted for one swap. */
export type Waste = { cents: number; at: number } & Record<Scope, string>

/** All gas of locks, deliveries and refunds for strangers' swaps without their effect, by receipts. */
export async function wasteOf(evidence: Evidence): Promise<Waste[]> {
  const { db, evm, input } = evidence
  const strangers = new Map(
    db.swaps.flatMap((swap) => (evidence.partyOf(swap)?.isStranger ? [[swap.id, swap]] : [])),
  )
  const usd = lowestEthUsd(input)
  const read = async (attempt: AttemptRow): Promise<Waste[]> => {
    const kind = EFFECTS[attempt.role]
    const chain = evm.get(attempt.chain_id)
    const theirs = attempt.swap_ids.flatMap((id) => strangers.get(id) ?? [])
    if (!kind || !chain || theirs.length === 0) return []
    const hasEffect = (swap: SwapRow) =>
      evidence.opEventsOf(swap, kind).some(({ txHash }) => txHash === attempt.tx_hash)
    const wasted = theirs.filter((swap) => !hasEffect(swap))
    const fee = wasted.length > 0 ? await chain.feeOf(attempt.tx_hash) : 0n
    if (fee === 0n) return []
    const cents = (Number(fee) / 1e18 / attempt.swap_ids.length) * usd * 100
    return wasted.map((swap) => ({
      ...{ cents, at: attempt.at, account: swap.account_id, chain: chain.chain.name },
      // Anyone may name any wallet for a sent input.
      wallet: evidence.partyOf(swap)?.payer ? '' : swap.wallet,
    }))
  }
  return (await Promise.all(db.attempts.map(read))).flat()
}

/** The lowest price of the run: a gain at this price is one at every price. */
function lowestEthUsd({ faults }: Input): number {
  const moved = faults.map(({ kind, event }) => (kind === 'priceMove' ? (event?.percent ?? 0) : 0))
  return ETH_USD * (1 + Math.min(0, ...moved) / 100)
}

const HOUR_MS = 3_600_000

/** The most wasted in an hour, of each scope. A budget stops what follows: the last transaction may exceed it. */
export function mostWasted(wasted: readonly Waste[], scope: Scope): { cents: number; last: number } {
  const hours = new Map<string, { cents: number; last: number }>()
  for (const each of wasted.filter((one) => one[scope] !== '')) {
    const key = `${each[scope]} ${Math.floor(each.at / HOUR_MS)}`
    const before = hours.get(key) ?? { cents: 0, last: 0 }
    hours.set(key, { cents: before.cents + each.cents, last: Math.max(before.last, each.cents) })
  }
  const none = { cents: 0, last: 0 }
  return [...hours.values()].reduce(
    (most, hour) => (hour.cents - hour.last > most.cents - most.last ? hour : most),
    none,
  )
}

function objectionsToWaste(wasted: readonly Waste[]): string[] {
  return (Object.keys(BUDGETS) as Scope[]).flatMap((scope) => {
    const { cents, last } = mostWasted(wasted, scope)
    if (cents <= BUDGETS[scope] + last) return []
    return [
      `strangers wasted ${cents.toFixed(1)} cents of gas of one ${scope} in an hour, ${BUDGETS[scope]} allowed`,
    ]
  })
}

export const boundedWaste: Check = async (evidence) =>
  each('INV-27', objectionsToWaste(await wasteOf(evidence)), (objection) => objection)

type Value = { began: bigint; ended: bigint }

const objectionToGain = ({ began, ended }: Value): string | undefined =>
  ended > began ? `ends with ${ended} millionths of a dollar, and began with ${began}` : undefined

/**
 * Strangers get no more out of their swaps than they put in: their own gifts to each other are counted, and the inputs
 * that a reorg gave back, whose sum INV-13 bounds.
 */
export const noGain: Check = async (evidence) => {
  const { setup } = evidence.input
  const gifts = await landedGifts(evidence)
  const undone = undoneOf(evidence)
  const ofMembers = await eachAsync(
    'INV-27',
    setup.parties.filter(({ isStranger }) => isStranger),
    async (party) => {
      const given = gifts.filter(({ client }) => client === party.id).map(({ amount }) => BigInt(amount))
      const back = undone.filter(({ wallet }) => wallet === party.wallet).map((swap) => swap.input_amount)
      const objection = objectionToGain(await readValue(evidence, party, [...given, ...back]))
      return objection && `the stranger ${party.wallet} ${objection}`
    },
  )
  const ofPurses = await eachAsync('INV-27', setup.purses ?? [], async ({ chain, address, held }) => {
    const tokens = tokensOf(evidence, chain).filter(({ symbol }) => symbol === 'USDC')
    const [token] = tokens
    if (!token) return `${chain} has no USDC`
    const ended = await evidence.balanceOf(token.chainId, address, token.address)
    return ended > BigInt(held)
      ? `the strangers' ${address} on ${chain} holds ${ended}, once ${held}`
      : undefined
  })
  return [...ofMembers, ...ofPurses]
}

function tokensOf({ input }: Evidence, chain: string) {
  const setup = input.setup.local.chains.find(({ name }) => name === chain)
  return (setup?.tokens ?? []).map((token) => ({ ...token, chainId: setup?.chainId ?? 0 }))
}

const MICROS = 10n ** 6n

async function readValue(evidence: Evidence, party: Party, given: readonly bigint[]): Promise<Value> {
  const { from, to, wallet, recipient, payer } = party
  const sold = tokensOf(evidence, from).find(({ symbol }) => symbol === party.sell)
  const unit = 10n ** BigInt(sold?.decimals ?? 0)
  const put = BigInt(party.held) + BigInt(party.paid ?? 0) + sum(given)
  // Coins of wallets and payers pay for their own transactions, and are no part of a swap.
  const places = [
    ...[wallet, ...(payer ? [payer] : [])].map((owner) => ({ owner, chain: from, isRecipient: false })),
    { owner: recipient, chain: to, isRecipient: true },
  ]
  const ended = await Promise.all(places.map((place) => heldAt(evidence, place)))
  const credit = sold ? await evidence.evm.get(sold.chainId)?.creditOf(wallet, sold.address) : 0n
  return { began: (put * MICROS) / unit, ended: sum(ended) + ((credit ?? 0n) * MICROS) / unit }
}

type Place = { owner: string; chain: string; isRecipient: boolean }

/** In millionths of a US dollar; of GEO in millionths of a GEO, which is swapped for GEO alone. */
async function heldAt(evidence: Evidence, { owner, chain, isRecipient }: Place): Promise<bigint> {
  const usdOf: Record<string, number> = {
    USDC: 1,
    GEO: 1,
    ...(isRecipient && { ETH: lowestEthUsd(evidence.input) }),
  }
  const counted = tokensOf(evidence, chain).filter(({ symbol }) => symbol in usdOf)
  const held = await Promise.all(
    counted.map(async ({ chainId, address, symbol, decimals }) => {
      const amount = await evidence.balanceOf(chainId, owner, address)
      return (amount * BigInt(Math.round((usdOf[symbol] ?? 0) * 1e6))) / 10n ** BigInt(decimals)
    }),
  )
  return sum(held)
}
