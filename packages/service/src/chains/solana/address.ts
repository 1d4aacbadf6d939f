import { isAddress, isOffCurveAddress } from '@solana/kit'

/** What stands for the native coin where a mint is named: the System program's address. */
export const NATIVE_SOL = '11111111111111111111111111111111'

/** The address as it was given, or undefined. Base58 has one form for 32 bytes, so there is nothing to tidy. */
export function parseSolanaAddress(text: string): string | undefined {
  return isAddress(text) ? text : undefined
}

/** True where a key may exist. An address off the curve belongs to a program: no one can sign for it. */
export function isOnCurve(address: string): boolean {
  return isAddress(address) && !isOffCurveAddress(address)
}
