import { type RefundableOp, readRefundableOp } from '@geoswap/protocol'
import { isNative, type Terms, type Token } from '@geoswap/solana-escrow'
import { type Address, isAddress } from '@solana/kit'
import { UserError } from '../errors.ts'

export type { RefundableOp } from '@geoswap/protocol'

/** Reads the `operation` of a build reply. A wrong field yields a hash that no slot holds. */
export function readOperation(value: unknown): RefundableOp {
  try {
    return readRefundableOp(value)
  } catch (cause) {
    const advice = 'It is the field operation of a reply of POST /swap/build-geo-op.'
    throw new UserError('USAGE', 'This is not the operation of an EVM swap.', { advice, cause })
  }
}

/** An input that may lie in the escrow program of a Solana chain. */
export type SolanaRefundable = {
  chainId: number
  program: Address
  terms: Terms
  token: Token
  amount: bigint
}

type Fields = Readonly<Record<string, unknown>>

/** Reads the `operation` of a build reply. A wrong field yields an address that holds nothing. */
export function readSolanaOperation(value: unknown): SolanaRefundable {
  try {
    return toRefundable(value as Fields)
  } catch (cause) {
    const advice = 'It is the field operation of a reply of POST /swap/build-solana-tx.'
    throw new UserError('USAGE', 'This is not the operation of a Solana swap.', { advice, cause })
  }
}

function toRefundable(fields: Fields): SolanaRefundable {
  const addressIn = (name: string): Address => {
    const text = String(fields[name])
    if (!isAddress(text)) throw new TypeError(`${name} is not an address`)
    return text
  }
  const integerIn = (name: string): bigint => {
    const text = String(fields[name])
    if (!/^\d{1,20}$/.test(text)) throw new TypeError(`${name} is not an integer`)
    return BigInt(text)
  }
  const opId = String(fields['opId'])
  if (!/^[0-9a-f]{64}$/.test(opId)) throw new TypeError('opId is not 32 bytes')
  const program = addressIn('tokenProgram')
  const amount = integerIn('amount')
  return {
    chainId: Number(integerIn('chainId')),
    program: addressIn('program'),
    terms: {
      wallet: addressIn('wallet'),
      vault: addressIn('vault'),
      attester: addressIn('attester'),
      rentReceiver: addressIn('feePayer'),
      opId: `0x${opId}`,
      refundDeadline: integerIn('refundDeadline'),
      amount,
    },
    // The program takes the decimals from the mint.
    token: { mint: addressIn('token'), program, decimals: isNative({ program }) ? 9 : 0 },
    amount,
  }
}
