import { type Address, address } from '@solana/kit'

export const SYSTEM_PROGRAM = address('11111111111111111111111111111111')
export const TOKEN_PROGRAM = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const ASSOCIATED_TOKEN_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
export const WRAPPED_SOL = address('So11111111111111111111111111111111111111112')

/** The native coin has the System program as its mint and as its program. */
export type Token = { mint: Address; program: Address; decimals: number }

export const NATIVE_TOKEN: Token = { mint: SYSTEM_PROGRAM, program: SYSTEM_PROGRAM, decimals: 9 }

export function isNative({ program }: Pick<Token, 'program'>): boolean {
  return program === SYSTEM_PROGRAM
}

/** The token in which the escrow holds an input: native SOL lies there as wrapped SOL. */
export function toHeldToken<T extends Pick<Token, 'mint' | 'program'>>(token: T): T {
  return isNative(token) ? { ...token, mint: WRAPPED_SOL, program: TOKEN_PROGRAM } : token
}
