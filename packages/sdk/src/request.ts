import type { NamedQuoteRequest, QuoteRequest } from '@geoswap/wire'
import { accountOn, familyOfId, fromCaip2, toCaip2, tokenOn } from '@geoswap/wire/caip'
import type { KnownContracts } from './checks/terms.ts'
import { SwapRefusedError } from './errors.ts'
import { familyOf } from './families/registry.ts'

/** Contracts that are no addresses, or of two families, would only be found out when something is to be signed. */
export function assertContracts(contracts: Readonly<Record<number, KnownContracts>>): void {
  for (const [chainId, named] of Object.entries(contracts)) {
    const found = Object.entries(named).flatMap(([name, address]) => {
      const family = address === undefined ? [] : familyOf(address)
      if (family) return family
      throw new SwapRefusedError('REQUEST', `contracts[${chainId}].${name} is no address: ${address}`)
    })
    if (new Set(found).size > 1)
      throw new SwapRefusedError('REQUEST', `contracts[${chainId}] has addresses of two families.`)
  }
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
  const plain = {
    ...request,
    originChain,
    destinationChain,
    inputToken: at('inputToken', originChain, request.inputToken),
    outputToken: at('outputToken', destinationChain, request.outputToken),
    walletAddress: at('walletAddress', originChain, request.walletAddress),
    recipient: recipient === undefined ? undefined : at('recipient', destinationChain, recipient),
  }
  assertOfFamily(plain, 'walletAddress', 'inputToken')
  assertOfFamily(plain, 'recipient', 'outputToken')
  return plain
}

/** The address of a token says which family its chain is of. */
function assertOfFamily(request: Partial<Record<Part, string>>, name: Part, token: Part): void {
  const family = familyOf(request[token] ?? '')
  if (!family) throw new SwapRefusedError('REQUEST', `${token} ${request[token]} is no address.`)
  const address = request[name]
  if (address === undefined || family.parseAddress(address) !== undefined) return
  throw new SwapRefusedError('REQUEST', `${name} ${address} is no address of the family of ${token}.`)
}

type Part = 'inputToken' | 'outputToken' | 'walletAddress' | 'recipient'

function toChainId(name: string, named: number | string): number {
  const chainId = typeof named === 'number' ? named : fromCaip2(named)
  if (chainId !== undefined) return chainId
  throw new SwapRefusedError('REQUEST', `${name} ${named} is no known CAIP-2 id: use the chain's number.`)
}

function toAddress(name: Part, { chainId, text }: { chainId: number; text: string }): string {
  if (!text.includes(':')) return text
  const find = name.endsWith('Token') ? tokenOn : accountOn
  const named = find(toCaip2({ chainId, family: familyOfId(text) }), text)
  if ('address' in named) return named.address
  throw new SwapRefusedError('REQUEST', `${name} ${text} ${named.problem}.`)
}
