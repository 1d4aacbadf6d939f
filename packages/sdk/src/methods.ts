import type { DelegationReply, OriginMethod, QuoteReply } from '@geoswap/wire'
import { canSend, ways } from './checks/payment.ts'
import { readUint } from './checks/read-fields.ts'
import { SwapRefusedError } from './errors.ts'
import type { Abilities } from './signers.ts'

type Standing = Pick<DelegationReply, 'originReady' | 'delegationTarget'>

/**
 * The best way that the signer has: by delegation where it can, else by one signature, else by a transfer of its own,
 * as a deposit where the price holds that long. A wallet with code of another provider keeps it.
 */
export function bestMethod(
  signer: Abilities,
  methods: readonly OriginMethod[],
  standing: Standing,
): OriginMethod {
  return findMethod(signer, openTo(methods, standing), standing) ?? 'delegation'
}

/** Refuses with the ways of this wallet, and what a signer needs for each, if this one has none of them. */
export function getMethod(
  signer: Abilities,
  methods: readonly OriginMethod[],
  standing: Standing,
): OriginMethod {
  const open = openTo(methods, standing)
  const found = findMethod(signer, open, standing)
  if (found) return found
  throw cannotPay(open.map((each) => `${each} (${ways[each].needs})`).join(', ') || 'any way')
}

export const cannotPay = (by: string): SwapRefusedError =>
  new SwapRefusedError('SIGNER', `This signer cannot pay by ${by}.`)

const findMethod = (signer: Abilities, open: OriginMethod[], { originReady }: Standing) =>
  originReady
    ? 'delegation'
    : open.find((each) =>
        ways[each].needs === 'sendTransaction' ? canSend(signer) : signer[ways[each].needs],
      )

/** The ways that this wallet has, whoever signs for it. */
function openTo(methods: readonly OriginMethod[], { delegationTarget }: Standing): OriginMethod[] {
  return methods.filter((each) => delegationTarget || !ways[each].isPlain)
}

/** The quote with the amounts of one way. */
export function quoteBy(quote: QuoteReply, method: OriginMethod): QuoteReply {
  const way = quote.originMethods?.find((each) => each.method === method)
  if (!way && method === 'delegation') return quote
  if (!way) {
    const offered = quote.originMethods?.map((each) => each.method).join(', ') || 'no other way'
    throw new SwapRefusedError(
      'METHOD',
      `This input cannot come in by ${method}: the quote offers ${offered}.`,
    )
  }
  const { input, output, minOutput } = way
  return { ...quote, input, output, minOutput, priceImpactBps: impactBy(quote, way) }
}

type Amounts = Pick<QuoteReply, 'input' | 'output'>

const BPS = 10_000

/** The impact of a quote is that of its own amounts. Rounded towards the worse. */
function impactBy({ priceImpactBps: bps = NaN, ...quote }: QuoteReply, way: Amounts): number | undefined {
  const whole = readUint(quote, 'output') * readUint(way, 'input')
  const part = readUint(quote, 'input') * readUint(way, 'output')
  if (!Number.isInteger(bps) || bps < -BPS || whole === 0n) return undefined
  return Number((BigInt(BPS + bps) * part) / whole) - BPS
}
