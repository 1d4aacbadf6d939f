import { type Address, getAddress, isAddress } from 'viem'

// A checksum requires a hash: cached for addresses that recur.
const MAX_KNOWN = 10_000
const known = new Map<string, Address>()

/** The checksummed address; undefined if invalid, or in mixed case with a wrong checksum (ERC-55). */
export function parseEvmAddress(text: string): Address | undefined {
  const before = known.get(text)
  if (before) return before
  const address = parse(text)
  if (address && known.size >= MAX_KNOWN) known.clear()
  if (address) known.set(text, address)
  return address
}

function parse(text: string): Address | undefined {
  if (!/^0[xX][0-9a-fA-F]{40}$/.test(text)) return undefined
  const digits = text.slice(2)
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (isOneCase) return getAddress(text.toLowerCase())
  return isAddress(`0x${digits}`) ? getAddress(`0x${digits}`) : undefined
}
