import { isSolanaError } from '@solana/kit'
import { causesOf } from '../nodes/silence.ts'

/** Whether an error of kit says that a node was silent: it passes on the codes of JSON-RPC, which are negative. */
export function isSolanaSilence(error: unknown): boolean {
  return causesOf(error).some((cause) => isSolanaError(cause) && cause.context.__code < 0)
}
