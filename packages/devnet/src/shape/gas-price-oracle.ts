import { type Address, concatHex, type Hex, numberToHex, parseAbi, toFunctionSelector } from 'viem'

/** The predeploy of every OP chain: https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle */
export const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000f'

export const GAS_PRICE_ORACLE_ABI = parseAbi([
  'function getL1Fee(bytes unsignedTransaction) view returns (uint256)',
  'function getL1FeeUpperBound(uint256 unsignedBytes) view returns (uint256)',
])

// Fjord: a transaction counts as at least 100 bytes, and an unsigned one as 68 longer.
// https://specs.optimism.io/protocol/fjord/exec-engine.html
const LEAST_BYTES = 100n
const SIGNATURE_BYTES = 68n

/** The price of one byte on L1, in wei. */
export const PRICE_SLOT = '0x0'

export function l1FeeOf(signedBytes: number, weiPerByte: bigint): bigint {
  const bytes = BigInt(signedBytes)
  return (bytes > LEAST_BYTES ? bytes : LEAST_BYTES) * weiPerByte
}

const push1 = (value: bigint): Hex => concatHex(['0x60', numberToHex(value, { size: 1 })])
const selector = (name: string): Hex => concatHex(['0x63', toFunctionSelector(name)])

/**
 * A minimal contract with the two functions that senders call: bytes times the price in its first slot. The
 * real one estimates how far the bytes compress; this one charges them uncompressed.
 */
export const GAS_PRICE_ORACLE_CODE: Hex = concatHex([
  // 0x00: the selector of the call, and a jump to its function
  '0x5f3560e01c80',
  selector('getL1Fee(bytes)'),
  '0x14601b57',
  selector('getL1FeeUpperBound(uint256)'),
  '0x14602a57',
  '0x5f5ffd',
  // 0x1b: the length of the bytes, and the signature
  '0x5b50600435600401',
  concatHex(['0x35', push1(SIGNATURE_BYTES)]),
  '0x01603756',
  // 0x2a: the size, a 255th of it, 16 and the signature
  '0x5b6004358060ff900401',
  push1(SIGNATURE_BYTES + 16n),
  '0x01',
  // 0x37: at least 100 bytes, times the price
  '0x5b80',
  push1(LEAST_BYTES),
  '0x1181',
  push1(LEAST_BYTES),
  '0x1802185f54025f5260205ff3',
])
