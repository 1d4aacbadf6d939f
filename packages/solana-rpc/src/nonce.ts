import { getBase58Decoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { findAt } from './account-store.ts'
import type { Ledger } from './ledger.ts'
import type { Message } from './wire-transaction.ts'

// AdvanceNonceAccount of the System program, as a 32-bit number.
const ADVANCE = Uint8Array.of(4, 0, 0, 0)
const NONCE_BYTES = 80
// After version, state and authority.
const VALUE_AT = 40
const VALUE_END = 72

/**
 * Whether the message names the value of a nonce account in place of a blockhash. As in a bank, its first instruction
 * advances that account; the System program itself checks the authority.
 */
export function isNonceValid(
  { accounts }: Pick<Ledger, 'accounts'>,
  { message, slot }: { message: Message; slot: number },
): boolean {
  const [first] = message.instructions
  const address = first && message.keys[first.accounts[0] ?? -1]
  if (!first || !address || message.keys[first.programIndex] !== SYSTEM_PROGRAM_ADDRESS) return false
  if (first.data.length !== ADVANCE.length || !first.data.every((byte, at) => byte === ADVANCE[at]))
    return false
  const nonce = findAt(accounts, { address, slot })
  if (nonce?.owner !== SYSTEM_PROGRAM_ADDRESS || nonce.data.length !== NONCE_BYTES) return false
  return getBase58Decoder().decode(nonce.data.slice(VALUE_AT, VALUE_END)) === message.blockhash
}
