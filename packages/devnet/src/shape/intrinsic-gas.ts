import { hexToBytes } from 'viem'
import type { SignedTransaction } from './signed-transaction.ts'

// Yellow paper, EIP-2028, EIP-2930, EIP-3860, EIP-7702 and EIP-7623; go-ethereum core/state_transition.go.
const TRANSACTION = 21_000n
const CREATION = 32_000n
const INIT_CODE_WORD = 2n
const ZERO_BYTE = 4n
const OTHER_BYTE = 16n
const ACCESS_ADDRESS = 2_400n
const ACCESS_KEY = 1_900n
const AUTHORIZATION = 25_000n
const FLOOR_PER_TOKEN = 10n
const TOKENS_PER_OTHER_BYTE = 4n

type Sized = Pick<SignedTransaction, 'data' | 'to' | 'accessList' | 'authorizations'>

/** The gas that a transaction needs before its first instruction, and the minimum for its data. */
export function intrinsicGas(tx: Sized): { intrinsic: bigint; floor: bigint } {
  const data = hexToBytes(tx.data)
  const zeros = BigInt(data.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0))
  const others = BigInt(data.length) - zeros
  const keys = tx.accessList.reduce((count, { storageKeys }) => count + storageKeys.length, 0)
  const creation = tx.to === null ? CREATION + INIT_CODE_WORD * BigInt(Math.ceil(data.length / 32)) : 0n
  const access = ACCESS_ADDRESS * BigInt(tx.accessList.length) + ACCESS_KEY * BigInt(keys)
  return {
    intrinsic:
      TRANSACTION +
      creation +
      ZERO_BYTE * zeros +
      OTHER_BYTE * others +
      access +
      AUTHORIZATION * BigInt(tx.authorizations.length),
    floor: TRANSACTION + FLOOR_PER_TOKEN * (zeros + TOKENS_PER_OTHER_BYTE * others),
  }
}
