import { type FaucetChain, FaucetRefusal } from './faucet-chain.ts'

type Gift = { chain: FaucetChain; address: string; token: string; amount: bigint }

/** Parses a request to the faucet. Throws a FaucetRefusal that names the problem. */
export function parseGift(chains: readonly FaucetChain[], body: string): Gift {
  const request = parseObject(body)
  const chain = chains.find(({ chainId }) => chainId === Number(request.chainId))
  if (!chain) throw refuse(`chainId must be one of ${chains.map((c) => c.chainId).join(', ')}`)
  return {
    chain,
    address: parseAddress(chain, request.address),
    token: parseToken(chain, request.token),
    amount: parseAmount(chain, request.amount),
  }
}

function parseObject(body: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    throw refuse('The body must be JSON: { chainId, address, token, amount }')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw refuse('The body must be a JSON object: { chainId, address, token, amount }')
  }
  return parsed as Record<string, unknown>
}

function parseAddress(chain: FaucetChain, value: unknown): string {
  if (typeof value !== 'string') throw refuse('address must be a string')
  const problem = chain.findProblem(value)
  if (problem) throw refuse(problem)
  return value
}

function parseToken(chain: FaucetChain, value: unknown): string {
  const known = chain.tokens.map(({ symbol, address }) => `${symbol} ${address}`).join(', ')
  const sameToken = (token: { symbol: string; address: string }) =>
    typeof value === 'string' && (token.symbol === value || isSameAddress(token.address, value))
  const found = chain.tokens.find(sameToken)
  if (!found) throw refuse(`token must be one of chain ${chain.chainId}'s: ${known}`)
  return found.address
}

// Hex is case-insensitive, base58 is not.
function isSameAddress(a: string, b: string): boolean {
  return a.startsWith('0x') ? a.toLowerCase() === b.toLowerCase() : a === b
}

function parseAmount({ largestAmount }: FaucetChain, value: unknown): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^[1-9][0-9]*$/.test(text)) {
    throw refuse(
      'amount must be a decimal string of a positive integer in the smallest unit, such as "1000000"',
    )
  }
  const isTooLong = text.length > largestAmount.toString().length
  if (isTooLong || BigInt(text) > largestAmount) throw refuse(`amount must be at most ${largestAmount}`)
  return BigInt(text)
}

function refuse(message: string): FaucetRefusal {
  return new FaucetRefusal({ status: 400, code: 'INVALID_REQUEST', message })
}
