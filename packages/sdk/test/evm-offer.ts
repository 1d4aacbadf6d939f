import { type GeoOp, geoOpDomain, geoOpTypes, hashGeoOp, ringOf, toBytes32 } from '@geoswap/protocol'
import type { BuildGeoOpReply, QuoteReply, QuoteRequest } from '@geoswap/wire'
import { type Address, getAddress, type Hex } from 'viem'

export const addressOf = (digit: string): Address => getAddress(`0x${digit.repeat(40)}`)

export const origin = { chainId: 31_337, escrow: addressOf('e') }
export const vault = addressOf('7')
export const account = addressOf('c')
export const nowSeconds = () => Math.floor(Date.now() / 1_000)

export const evmRequest: QuoteRequest = {
  ...{ originChain: origin.chainId, destinationChain: 31_338, amount: '10000000' },
  ...{ inputToken: addressOf('a'), outputToken: addressOf('b'), walletAddress: addressOf('1') },
}

export const evmQuote: QuoteReply = {
  ...{ geoQuoteToken: 'quote', origin: 'evm', feeBps: 12.5, etaSeconds: 3, fees: [], priceImpactBps: -35 },
  ...{ input: '10000000', output: '9965000', minOutput: '9915175' },
  expiresAt: '2026-01-02T03:04:35.678Z',
}

/** The op that an honest service builds from a request. */
export function opFor(request: QuoteRequest, quote: QuoteReply): GeoOp {
  const locker = addressOf('9')
  const index = 1n << 32n
  const now = BigInt(nowSeconds())
  return {
    wallet: getAddress(request.walletAddress),
    inputToken: getAddress(request.inputToken),
    inputAmount: BigInt(quote.input),
    ...{ index, locker, opDeadline: now + 150n, refundDeadline: now + 1_500n },
    delivery: {
      ...{ ring: ringOf({ ...origin, locker }), index, fillDeadline: now + 800n },
      destinationChain: BigInt(request.destinationChain),
      vault: toBytes32(vault),
      outputToken: toBytes32(request.outputToken),
      minOutput: BigInt(quote.minOutput),
      recipient: toBytes32(request.recipient ?? request.walletAddress),
    },
  }
}

/** The reply of a build with this op. The hash matches the op, as an attacker's would. */
export function buildOf(op: GeoOp, domain: { chainId: number; escrow: Address } = origin): BuildGeoOpReply {
  return {
    geoOpHash: hashGeoOp(domain, op),
    geoOpToken: 'op',
    expiresAt: '2026-01-02T03:06:10.000Z',
    operation: {
      ...{ domain: geoOpDomain(domain), primaryType: 'GeoOp', message: toJson(op) },
      types: { GeoOp: [...geoOpTypes.GeoOp], Delivery: [...geoOpTypes.Delivery] },
    },
  }
}

export function toJson(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each)))
}

export const wordOf = (digit: string): Hex => `0x${digit.repeat(64)}`
