const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The 32 bytes of a Solana address as hex digits; undefined for any other text. */
export function fromBase58(text: string): string | undefined {
  let value = 0n
  for (const letter of text) {
    const digit = ALPHABET.indexOf(letter)
    if (digit < 0) return undefined
    value = value * 58n + BigInt(digit)
  }
  // Each leading 1 is a zero byte, which the number does not show.
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  const digits = value === 0n ? '' : value.toString(16)
  const bytes = zeros + Math.ceil(digits.length / 2)
  return bytes === 32 ? digits.padStart(64, '0') : undefined
}
