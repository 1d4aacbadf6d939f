import type { TokenEntry } from '@geoswap/sdk'

const GIFT_USD = 1_000

/** An amount worth about a thousand dollars, in whole tokens. */
export function giftOf({ decimals, priceUsd }: Pick<TokenEntry, 'decimals' | 'priceUsd'>): bigint {
  const price = Math.max(0.01, Number(priceUsd ?? 1))
  return BigInt(Math.max(1, Math.round(GIFT_USD / price))) * 10n ** BigInt(decimals)
}

/** Requests tokens from the faucet of a local network, and returns once the balance has arrived. */
export async function askFaucet(
  faucetUrl: string,
  { token, owner }: { token: TokenEntry; owner: string },
): Promise<void> {
  const { chainId, address } = token
  const gift = { chainId, address: owner, token: address, amount: giftOf(token).toString() }
  const response = await fetch(faucetUrl, { method: 'POST', body: JSON.stringify(gift) })
  if (response.ok) return
  const { message } = (await response.json()) as { message?: string }
  throw new Error(`The faucet refused: ${message ?? response.status}`)
}
