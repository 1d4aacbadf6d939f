import { type Address, getAddress, isAddress } from 'viem'

/** The checksummed address, or undefined: also for mixed case with a wrong checksum (ERC-55). */
export function parseEvmAddress(text: string): Address | undefined {
  if (!/^0[xX][0-9a-fA-F]{40}$/.test(text)) return undefined
  const digits = text.slice(2)
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (isOneCase) return getAddress(text.toLowerCase())
  return isAddress(`0x${digits}`) ? getAddress(`0x${digits}`) : undefined
}
