import {
  decodePayment,
  depositAddressOf,
  geoEscrowAbi,
  type Payment,
  paymentDigest,
  paymentOf,
  signedTokenAbi,
  transferTypes,
} from '@geoswap/protocol'
import { type Address, encodeFunctionData, type Hex, keccak256, type PublicClient } from 'viem'
import { attempt } from '../chains/evm/attempt.ts'
import { LOCK_AT_ADDRESS, toEscrowOp } from '../chains/evm/plans.ts'
import { STRANGE_GAS } from '../chains/evm/strange-reads.ts'
import { readHeld, type TriedKey, type TriedToken } from '../chains/evm/ways.ts'
import type { SignedInput, Swap } from '../swap/swap.ts'
import { acceptsSignature } from './authorization.ts'
import { findCodeObstacle, findSignedObstacle, NEVER, readSigned, TAKE_GAS } from './signed-token.ts'
import { type EvmWay, onlyOne } from './way.ts'

/**
 * The wallet pays the op's own address by an authorization of EIP-3009 that any caller may use, as payers by HTTP 402
 * sign it. The whole payment is stored as its signature.
 */
export const payment: EvmWay<'payment'> = {
  name: 'payment',
  signs: 'typedData',
  payer: 'wallet',
  isBatched: false,
  isSimulated: true,
  takes: (token, native) => token !== native && token.signing?.methods.includes('payment') === true,
  canPay: () => true,
  usesAddress: true,
  toPayment: ({ escrow, op }) => ({ depositAddress: depositAddressOf(escrow, op.hash as Hex) }),
  measured: { gas: 145_000n, bytes: 650n },
  planLock: ({ escrow }, swaps) => ({ to: escrow, data: encodeLock(onlyOne(swaps)), gas: LOCK_AT_ADDRESS }),
  opsIn: (call) => (call.functionName === 'lockPaid' ? [call.args[0]] : undefined),
  async isSigned(reads, input, stored) {
    const paid = decodePayment(stored as Hex)
    if (!paid || !covers(paid, input)) return false
    const digestOf: Parameters<typeof readSigned>[2]['digestOf'] = (separator, escrow) =>
      paymentDigest(separator, messageOf(escrow, input, paid))
    const signed = await readSigned(reads, input, { digestOf, signature: paid.signature })
    if (!signed || signed.isByKey) return signed !== undefined
    return acceptsSignature(reads.client, input.wallet as Address, signed.digest, paid.signature)
  },
  /**
   * Anyone may have used the payment first: then the input lies at the op's address. The lock has the token ask the
   * wallet's code all the same.
   */
  async findObstacle(reads, swap) {
    const { depositAddress, wallet } = swap.op
    const asked = { client: reads.clients.client, owner: depositAddress ?? wallet }
    const { obstacle } = await readHeld(reads, swap, asked)
    if (obstacle === 'INPUT_UNAVAILABLE') return findSignedObstacle(reads, swap, takesPayment)
    return obstacle ?? findCodeObstacle(reads, swap)
  },
  tryOn,
}

/** A payment that ends before the op does could be too late for the lock. */
const covers = ({ validBefore }: Payment, { opDeadline }: Pick<SignedInput, 'opDeadline'>) =>
  validBefore > BigInt(opDeadline)

const messageOf = (escrow: Address, { hash, wallet, inputAmount }: SignedInput, paid: Payment) =>
  paymentOf({ escrow }, hash as Hex, { ...paid, wallet: wallet as Address, inputAmount })

function getPayment({ signature }: Pick<Swap, 'signature'>): Payment {
  const paid = decodePayment(signature as Hex)
  if (!paid) throw new Error('The stored signature is no payment')
  return paid
}

function encodeLock(swap: Swap): Hex {
  const { validAfter, validBefore, nonce, signature } = getPayment(swap)
  const args = [toEscrowOp(swap.op), validAfter, validBefore, nonce, signature] as const
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockPaid', args })
}

/** Whether the token would pay the op's address, in a call that changes nothing. */
async function takesPayment(
  client: PublicClient,
  escrow: Address,
  swap: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const paid = getPayment(swap)
  const message = messageOf(escrow, swap.op, paid)
  const call = { address: swap.op.inputToken as Address, account: escrow, gas: TAKE_GAS, blockNumber }
  const pay = () => client.simulateContract({ ...call, ...payBy(message, paid.signature) })
  return (await attempt(client, pay, blockNumber)).kind === 'ok'
}

function payBy(message: ReturnType<typeof paymentOf>, signature: Hex) {
  const { from, to, value, validAfter, validBefore, nonce } = message
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  return { abi: signedTokenAbi, functionName: 'transferWithAuthorization', args } as const
}

/** Has the token pay nothing. */
async function tryOn(
  client: PublicClient,
  { token: address, escrow }: TriedToken,
  { domain, account }: TriedKey,
) {
  const nonce = keccak256(account.address)
  const nothing = { wallet: account.address, inputAmount: 0n, validAfter: 0n, validBefore: NEVER, nonce }
  const message = paymentOf({ escrow }, nonce, nothing)
  const typed = { types: transferTypes, primaryType: 'TransferWithAuthorization', message } as const
  const signature = await account.signTypedData({ domain, ...typed })
  return client.simulateContract({ address, account: escrow, gas: STRANGE_GAS, ...payBy(message, signature) })
}
