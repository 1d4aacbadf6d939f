import { isAddress, isOffCurveAddress } from '@solana/kit'

/** The System program's address, which represents the native coin in place of a mint. */
export const NATIVE_SOL = '11111111111111111111111111111111'

/** The address unchanged, or undefined if invalid. Base58 has one form for 32 bytes, so nothing is normalized. */
export function parseSolanaAddress(text: string): string | undefined {
  return isAddress(text) ? text : undefined
}

/** True if a key may exist. An address off the curve belongs to a program and cannot sign. */
export function isOnCurve(address: string): boolean {
  return isAddress(address) && !isOffCurveAddress(address)
}
