import { accountOn, fromCaip2, toCaip2, tokenOn } from '@geoswap/protocol'
import type {
  DelegationReply,
  NamedQuoteRequest,
  OriginMethod,
  QuoteReply,
  QuoteRequest,
} from '@geoswap/wire'
import { SwapRefusedError } from './errors.ts'
import type { EvmSigner } from './signers.ts'

type Abilities = Pick<EvmSigner, 'signAuthorization' | 'signTypedData' | 'sendPayment'>

/**
 * The best way that the signer has: by delegation where it can, else by one signature, else by a transfer. A wallet
 * with code of another provider keeps it.
 */
export function bestMethod(
  signer: Abilities,
  methods: readonly OriginMethod[],
  { originReady, delegationTarget }: Pick<DelegationReply, 'originReady' | 'delegationTarget'>,
): OriginMethod {
  const hasOtherCode = !originReady && delegationTarget === undefined
  if (originReady || (signer.signAuthorization && !hasOtherCode)) return 'delegation'
  const isAble: Record<OriginMethod, boolean> = {
    delegation: false,
    authorization: signer.signTypedData !== undefined,
    permit: signer.signTypedData !== undefined && !hasOtherCode,
    deposit: signer.sendPayment !== undefined,
  }
  return methods.find((method) => isAble[method]) ?? 'delegation'
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
  return { ...quote, input, output, minOutput }
}

/**
 * The request with numbers and addresses in place of CAIP ids. The service is not asked: it must not decide
 * which chain, account or token the caller named.
 */
export function toPlainRequest(request: NamedQuoteRequest): QuoteRequest {
  const { recipient } = request
  const originChain = toChainId('originChain', request.originChain)
  const destinationChain = toChainId('destinationChain', request.destinationChain)
  const at = (name: Part, chainId: number, text: string) => toAddress(name, { chainId, text })
  return {
    ...request,
    originChain,
    destinationChain,
    inputToken: at('inputToken', originChain, request.inputToken),
    outputToken: at('outputToken', destinationChain, request.outputToken),
    walletAddress: at('walletAddress', originChain, request.walletAddress),
    recipient: recipient === undefined ? undefined : at('recipient', destinationChain, recipient),
  }
}

type Part = 'inputToken' | 'outputToken' | 'walletAddress' | 'recipient'

function toChainId(name: string, named: number | string): number {
  const chainId = typeof named === 'number' ? named : fromCaip2(named)
  if (chainId !== undefined) return chainId
  throw new SwapRefusedError('REQUEST', `${name} ${named} is no known CAIP-2 id: use the chain's number.`)
}

function toAddress(name: Part, { chainId, text }: { chainId: number; text: string }): string {
  if (!text.includes(':')) return text
  const family = text.startsWith('solana:') ? 'solana' : 'evm'
  const find = name.endsWith('Token') ? tokenOn : accountOn
  const named = find(toCaip2({ chainId, family }), text)
  if ('address' in named) return named.address
  throw new SwapRefusedError('REQUEST', `${name} ${text} ${named.problem}.`)
}
