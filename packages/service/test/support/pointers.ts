import { geoEscrowAbi } from '@geoswap/protocol'
import { concat, encodeFunctionData, type Hex, numberToHex, size, slice } from 'viem'

const word = (value: number) => numberToHex(value, { size: 32 })

/** A call of `lockManyWithAuthorization` whose entries all point to one op. */
export function lockBehindPointers(
  terms: object,
  { signature, entries }: { signature: Hex; entries: number },
) {
  const args = [[{ op: terms, signature }]] as never
  const plain = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockManyWithAuthorization', args })
  // After the selector: the array's offset, its length, one offset and the entry.
  const entry = slice(plain, 4 + 3 * 32, size(plain))
  const offsets = Array.from({ length: entries }, () => word(32 * entries))
  return concat([slice(plain, 0, 4), word(32), word(entries), ...offsets, entry])
}
