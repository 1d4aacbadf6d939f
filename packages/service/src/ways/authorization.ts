import {
  authorizationDigest,
  authorizationOf,
  contractWalletAbi,
  geoEscrowAbi,
  receiveTypes,
  signedTokenAbi,
  toTokenTypedData,
  VALID_SIGNATURE,
} from '@geoswap/protocol'
import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  type PublicClient,
  pad,
  size,
  slice,
} from 'viem'
import { attempt } from '../chains/evm/attempt.ts'
import { LOCK, LOCK_MANY, toEscrowOp } from '../chains/evm/plans.ts'
import { STRANGE_GAS } from '../chains/evm/strange-reads.ts'
import type { TriedKey, TriedToken } from '../chains/evm/ways.ts'
import { NodeSilence } from '../chains/nodes/agree.ts'
import type { Swap } from '../swap/swap.ts'
import { findSignedObstacle, NEVER, paidBy, readSigned, TAKE_GAS, toSign } from './signed-token.ts'
import type { EvmWay } from './way.ts'

/** The wallet signs an authorization of EIP-3009, which its token takes. A wallet with code signs by that code. */
export const authorization: EvmWay<'authorization'> = {
  name: 'authorization',
  signs: 'typedData',
  payer: 'wallet',
  isBatched: true,
  isSimulated: false,
  takes: (token, native) => token !== native && token.signing?.methods.includes('authorization') === true,
  canPay: () => true,
  usesAddress: false,
  toPayment(built) {
    const { domain, paid } = toSign(built)
    const message = authorizationOf(built, built.op.hash as Hex, paid)
    return { typedData: toTokenTypedData(domain, { primaryType: 'ReceiveWithAuthorization', message }) }
  },
  measured: { gas: 94_500n, bytes: 520n },
  planLock({ escrow }, swaps) {
    const [only] = swaps
    if (only && swaps.length === 1) return { to: escrow, data: encodeLock(only), gas: LOCK }
    return { to: escrow, data: encodeLockMany(swaps), gas: LOCK_MANY.fixed + LOCK_MANY.each * swaps.length }
  },
  opsIn(call) {
    if (call.functionName === 'lockWithAuthorization') return [call.args[0]]
    return call.functionName === 'lockManyWithAuthorization' ? call.args[0].map(({ op }) => op) : undefined
  },
  async isSigned(reads, input, signature) {
    const signed = await readSigned(reads, input, { digestOf, signature })
    if (!signed || signed.isByKey) return signed !== undefined
    return acceptsSignature(reads.client, input.wallet as Address, signed.digest, signature as Hex)
  },
  findObstacle: (reads, swap) => findSignedObstacle(reads, swap, takesAuthorization),
  tryOn,
}

const digestOf: Parameters<typeof readSigned>[2]['digestOf'] = (separator, escrow, input) =>
  authorizationDigest(separator, authorizationOf({ escrow }, input.hash as Hex, paidBy(input)))

function encodeLock({ op, signature }: Swap): Hex {
  const args = [toEscrowOp(op), signature as Hex] as const
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockWithAuthorization', args })
}

function encodeLockMany(swaps: readonly Swap[]): Hex {
  const ops = swaps.map(({ op, signature }) => ({ op: toEscrowOp(op), signature: signature as Hex }))
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockManyWithAuthorization', args: [ops] })
}

/** Whether the token would pay the escrow by the swap's authorization, in a call that changes nothing. */
export async function takesAuthorization(
  client: PublicClient,
  escrow: Address,
  { op, signature }: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const message = authorizationOf({ escrow }, op.hash as Hex, paidBy(op))
  const call = { address: op.inputToken as Address, account: escrow, gas: TAKE_GAS, blockNumber }
  const take = () => client.simulateContract({ ...call, ...takeBy(message, signature as Hex) })
  return (await attempt(client, take, blockNumber)).kind === 'ok'
}

function takeBy(message: ReturnType<typeof authorizationOf>, signature: Hex) {
  const { from, to, value, validAfter, validBefore, nonce } = message
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  return { abi: signedTokenAbi, functionName: 'receiveWithAuthorization', args } as const
}

/** Has the token take nothing. */
async function tryOn(
  client: PublicClient,
  { token: address, escrow }: TriedToken,
  { domain, account }: TriedKey,
) {
  const nothing = { wallet: account.address, inputAmount: 0n, opDeadline: NEVER }
  const message = authorizationOf({ escrow }, keccak256(account.address), nothing)
  const typed = { types: receiveTypes, primaryType: 'ReceiveWithAuthorization', message } as const
  const signature = await account.signTypedData({ domain, ...typed })
  const call = { address, account: escrow, gas: STRANGE_GAS }
  return client.simulateContract({ ...call, ...takeBy(message, signature) })
}

// As much as a lock has for one input.
const WALLET_GAS = 250_000
const CALL_GAS = 2_000_000n

/**
 * Init code that makes one static call with limited gas, and answers with three words: whether the call succeeded, the
 * length of its answer, and the answer's first word. So whatever a stranger's code does is an answer: it neither fails
 * the call of the node nor lengthens its reply.
 *
 *   memory = what follows this code: target, gas, data
 *   ok = staticcall(gas, target, data, answer at 64, 32 bytes)
 *   return ok, returndatasize, answer
 */
const ASK: Hex = '0x60263803602660003960206040606638036040600051602051fa6000523d60205260606000f3'
const MAGIC_WORD = pad(VALID_SIGNATURE, { dir: 'right', size: 32 })

/** Whether the wallet's own code accepts the signature (ERC-1271). Throws only if no node answers. */
export async function acceptsSignature(
  client: PublicClient,
  wallet: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  const asked = encodeFunctionData({
    abi: contractWalletAbi,
    functionName: 'isValidSignature',
    args: [hash, signature],
  })
  const data = concat([ASK, pad(wallet), numberToHex(WALLET_GAS, { size: 32 }), asked])
  const { data: answer = '0x' } = await client.call({ data, gas: CALL_GAS })
  if (size(answer) !== 96) throw new NodeSilence('The node did not run the init code')
  const [isOk, length, word] = [slice(answer, 0, 32), slice(answer, 32, 64), slice(answer, 64, 96)]
  return hexToBigInt(isOk) === 1n && hexToBigInt(length) >= 32n && word === MAGIC_WORD
}
