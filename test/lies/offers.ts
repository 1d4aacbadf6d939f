import {
  authorizationOf,
  depositAddressOf,
  type GeoOp,
  hashGeoOp,
  permitOf,
  type TokenDomain,
  toTokenTypedData,
  transferTo,
} from '@geoswap/protocol'
import type { BuildGeoOpReply, QuoteReply, QuoteRequest, StatusReply } from '@geoswap/wire'
import { type Address, type HashTypedDataParameters, type Hex, hashTypedData, numberToHex } from 'viem'
import { readGeoOp } from '../../packages/sdk/src/checks/read-fields.ts'
import { account, buildOf, evmQuote, evmRequest, opFor, origin } from '../../packages/sdk/test/evm-offer.ts'
import {
  parts,
  solanaBuildOf,
  solanaQuote,
  solanaRequest,
  transactionOf,
} from '../../packages/sdk/test/solana-offer.ts'
import type { Reply } from './liar.ts'

export type Offered = { hash: Hex; op?: GeoOp; escrow?: Address }
export type Offers = ReturnType<typeof createOffers>

const coin = { symbol: 'ETH', address: '0x0000000000000000000000000000000000000000', decimals: 18 }
const [alpha, beta] = ['eip155:31337', 'eip155:31338']
const coinOf = (chain: string | undefined) => ({ chainId: chain, native: `${chain}/slip44:60` })
const chains = [
  { chainId: 31_337, caip: coinOf(alpha), name: 'alpha', family: 'evm', native: coin, available: true },
  { chainId: 31_338, caip: coinOf(beta), name: 'beta', family: 'evm', native: coin, available: true },
]
const tokenOf = (chain: string | undefined, address: string) => ({
  ...{ address, priceUsd: '1.00', caip: { chainId: chain, address: `${chain}/erc20:${address}` } },
})
const usdc = { symbol: 'USDC', decimals: 6, asset: 'USDC', native: false, input: true, output: true }
const tokens = [
  { ...usdc, chainId: 31_337, ...tokenOf(alpha, evmRequest.inputToken) },
  { ...usdc, chainId: 31_338, ...tokenOf(beta, evmRequest.outputToken) },
]
const quotedBeside = {
  ...{ inputUsd: '10.00', outputUsd: '9.96', fees: [{ kind: 'serviceFee', amount: '12500', usd: '0.01' }] },
  feeDiscount: { tier: 'gold', discountPercent: 10, baseFeeBps: 15 },
  warnings: [{ code: 'SLOW_SETTLEMENT', message: 'It takes long.' }],
  speed: 'final',
  speeds: [
    { speed: 'final', etaSeconds: 2_400, outputAmount: '9965000', minOutput: '9915000' },
    { speed: 'fast', etaSeconds: 4, outputAmount: '9960000', minOutput: '9910000', riskPremium: '5000' },
  ],
}

const ended: StatusReply = {
  ...{ swapId: '', status: 'settled', substatus: 'delivered', originChain: 31_337, destinationChain: 31_338 },
  ...{ createdAt: '2026-01-02T03:04:12.000Z', updatedAt: '2026-01-02T03:04:20.000Z' },
  ...{
    originTxHash: '0x1',
    deliveryTxHash: '0x2',
    timeline: [{ stage: 'locked', at: '2026-01-02T03:04:13.000Z' }],
  },
  failure: { code: 'PRICE_MOVED', message: 'The price moved.' },
  refund: {
    reason: 'PRICE_MOVED',
    amount: '10000000',
    token: evmRequest.inputToken,
    txHash: '0x3',
    credited: false,
  },
  caip: { originChain: 'eip155:31337', destinationChain: 'eip155:31338' },
  amounts: {
    ...{ input: '10000000', quotedOutput: '9965000', minOutput: '9915175', delivered: '9965000' },
    riskPremium: { amount: '5000', returned: true, output: '9965000' },
  },
  speed: 'final',
  waiting: { reason: 'lateLock', until: '2026-01-01T00:00:00.000Z' },
  method: 'deposit',
  deposit: { address: evmRequest.inputToken, received: '10000000', txHash: '0x4', returned: [] },
}

const honestDomain: TokenDomain = {
  ...{ name: 'USD Coin', version: '2', chainId: origin.chainId },
  verifyingContract: evmRequest.inputToken as Address,
}

type TokenData = { method: unknown; nonce?: bigint; name?: string; version?: string }

/** The typed data of a token by which it pays for an op. A signature under another name of the token is void. */
function tokenDataOf(op: GeoOp, hash: Hex, { method, nonce = 0n, name, version }: TokenData) {
  const domain = { ...honestDomain, ...(name && { name }), ...(version && { version }) }
  if (method === 'permit')
    return toTokenTypedData(domain, {
      primaryType: 'Permit',
      message: permitOf(origin, hash, { ...op, nonce }),
    })
  const message = authorizationOf(origin, hash, op)
  return toTokenTypedData(domain, { primaryType: 'ReceiveWithAuthorization', message })
}

const digestOf = (typedData: unknown) => hashTypedData(typedData as HashTypedDataParameters)

// As a caller named its swaps.
const externalId = 'order-1'

/** The honest service, and everything it ever offered for signing, lies included. */
export function createOffers() {
  const requests = new Map<string, QuoteRequest>()
  const offered: Offered[] = []
  const swaps = new Map<string, string>()

  function quote(request: QuoteRequest): object {
    const geoQuoteToken = `quote-${requests.size + 1}`
    requests.set(geoQuoteToken, request)
    const priced = quoteFor(request)
    return { ...priced, ...quotedBeside, originMethods: methodsOf(priced), geoQuoteToken, externalId }
  }

  function build({
    geoQuoteToken,
    method = 'delegation',
  }: {
    geoQuoteToken?: string
    method?: string
  }): object {
    const request = requests.get(String(geoQuoteToken))
    if (!request) throw new Error('No such quote')
    const geoOpToken = `op-of-${geoQuoteToken}`
    const reply =
      request.originChain === solanaRequest.originChain
        ? solanaBuildOf(transactionOf(Object.values(parts)))
        : { ...buildBy(opFor(request, quoteFor(request)), method) }
    remember('/swap/build-geo-op', reply)
    return { ...reply, geoOpToken, externalId }
  }

  /** Stored under each hash that a wallet could have signed for it: the op's own, and the named one. */
  function remember(path: string, body: unknown): void {
    if (path !== '/swap/build-geo-op') return
    const { operation, geoOpHash, typedData } = (body ?? {}) as Partial<BuildGeoOpReply>
    if (geoOpHash !== undefined) offered.push({ hash: geoOpHash as Hex })
    try {
      const escrow = operation?.domain?.['verifyingContract'] as Address
      const op = readGeoOp(operation?.message)
      for (const chainId of [origin.chainId, Number(operation?.domain?.['chainId'])])
        offered.push({ hash: hashGeoOp({ chainId, escrow }, op), op, escrow })
      offered.push(...signedFor(op, escrow, typedData))
    } catch {
      // Only an op has its own hash.
    }
  }

  const acts: Record<string, (body: never, url: URL) => object> = {
    '/swap/chains': () => ({ chains }),
    '/swap/tokens': () => ({ tokens }),
    '/swap/quote': quote,
    '/swap/delegation': (_body, url) => ({
      ...{ chainId: Number(url.searchParams.get('chainId')), delegated: true, originReady: false },
      delegatedTo: account,
      caip: { chainId: alpha, walletAddress: `${alpha}:${url.searchParams.get('walletAddress')}` },
      ...{ walletAddress: url.searchParams.get('walletAddress'), delegationTarget: account, accountNonce: 0 },
    }),
    '/swap/build-geo-op': build,
    '/swap/build-solana-tx': build,
    '/swap/submit': submit,
    '/swap/submit-solana': submit,
    '/swap/status': (_body, url) => ({ ...ended, externalId, swapId: url.pathname.split('/').at(-1) }),
  }

  function submit({ geoOpToken }: { geoOpToken: string }): object {
    const swapId = swaps.get(geoOpToken) ?? `swp_${swaps.size + 1}`
    swaps.set(geoOpToken, swapId)
    return { swapId, status: 'pending', externalId }
  }

  return {
    offered: () => offered,
    remember,
    answer(path: string, url: URL, body: object): Reply {
      try {
        return { status: 200, body: acts[path]?.(body as never, url) ?? {} }
      } catch (error) {
        // A request that follows from a lie need not make sense.
        const refusal = {
          code: 'INVALID_REQUEST',
          message: String(error),
          recovery: { action: 'FIX_REQUEST' },
        }
        return { status: 400, body: refusal }
      }
    },
    reset(): void {
      for (const each of [requests, swaps]) each.clear()
      offered.length = 0
    },
  }
}

function quoteFor(request: QuoteRequest) {
  if (request.originChain === solanaRequest.originChain) return solanaQuote
  if (request.tradeType !== 'exactOutput') return evmQuote
  return { ...evmQuote, input: '10035000', output: request.amount, minOutput: request.amount }
}

const methodsOf = ({ input, output, minOutput }: QuoteReply) =>
  (['delegation', 'authorization', 'permit', 'deposit', 'transfer'] as const).map((method) => ({
    ...{ method, input, output, minOutput },
  }))

/** With the fields of every way: a client takes those of its own. */
function buildBy(op: GeoOp, method: string): BuildGeoOpReply {
  const build = buildOf(op)
  const hash = build.geoOpHash as Hex
  const depositAddress = depositAddressOf(origin.escrow, hash)
  const { value, ...call } = transferTo(depositAddress, { token: op.inputToken, amount: op.inputAmount })
  return {
    ...build,
    method: method as NonNullable<BuildGeoOpReply['method']>,
    typedData: tokenDataOf(op, hash, { method }),
    depositAddress,
    depositUntil: new Date(Number(op.opDeadline) * 1_000).toISOString(),
    transaction: { chainId: origin.chainId, ...call, value: `${value}` },
    sendCalls: {
      ...{ version: '2.0.0', from: op.wallet, chainId: numberToHex(origin.chainId), atomicRequired: false },
      calls: [{ ...call, value: numberToHex(value) }],
    },
  }
}

/** The digests of a token by which this op can be paid for, and that of the typed data as it was offered. */
function signedFor(op: GeoOp, escrow: Address, typedData: unknown): Offered[] {
  const hash = hashGeoOp(origin, op)
  const { message, domain } = (typedData ?? {}) as {
    message?: { nonce?: string }
    domain?: Pick<TokenData, 'name' | 'version'>
  }
  const nonce = BigInt(message?.nonce ?? 0)
  const own = ['authorization', 'permit']
    .map((method) => tokenDataOf(op, hash, { ...domain, method, nonce }))
    .map((each) => ({ hash: digestOf(each), op, escrow }))
  return typedData === undefined ? own : [...own, { hash: digestOf(typedData) }]
}
