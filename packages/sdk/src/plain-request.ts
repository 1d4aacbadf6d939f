import { accountOn, fromCaip2, toCaip2, tokenOn } from '@geoswap/protocol'
import type { NamedQuoteRequest, QuoteRequest } from '@geoswap/wire'
import { SwapRefusedError } from './errors.ts'

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
    ...(recipient !== undefined && { recipient: at('recipient', destinationChain, recipient) }),
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
