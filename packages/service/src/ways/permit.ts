import {
  geoEscrowAbi,
  permitDigest,
  permitOf,
  permitTypes,
  signedTokenAbi,
  toTokenTypedData,
} from '@geoswap/protocol'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  type PublicClient,
  parseSignature,
} from 'viem'
import { attempt } from '../chains/evm/attempt.ts'
import { LOCK_AT_ADDRESS, toEscrowOp } from '../chains/evm/plans.ts'
import { STRANGE_GAS, strangeReads } from '../chains/evm/strange-reads.ts'
import type { TriedKey, TriedToken } from '../chains/evm/ways.ts'
import type { Swap } from '../swap/swap.ts'
import { findSignedObstacle, NEVER, paidBy, readSigned, TAKE_GAS, toSign } from './signed-token.ts'
import { type EvmWay, isOthers, onlyOne } from './way.ts'

/** The wallet signs a permit of EIP-2612, by which the op's own address takes the input. */
export const permit: EvmWay<'permit'> = {
  name: 'permit',
  signs: 'typedData',
  payer: 'wallet',
  isBatched: false,
  isSimulated: true,
  takes: (token, native) => token !== native && token.signing?.methods.includes('permit') === true,
  // A token may ask code of others about the signature, and a permit has only that of a key.
  canPay: (code) => !isOthers(code),
  usesAddress: true,
  readPermitNonce: (ways, { inputToken, wallet }) => ways.readPermitNonce(inputToken, wallet),
  toPayment(built) {
    const { domain, paid } = toSign(built)
    const { hash, permitNonce: nonce = 0n } = built.op
    const message = permitOf(built, hash as Hex, { ...paid, nonce })
    return { typedData: toTokenTypedData(domain, { primaryType: 'Permit', message }) }
  },
  measured: { gas: 113_000n, bytes: 520n },
  planLock: ({ escrow }, swaps) => ({ to: escrow, data: encodeLock(onlyOne(swaps)), gas: LOCK_AT_ADDRESS }),
  opsIn: (call) => (call.functionName === 'lockPermitted' ? [call.args[0]] : undefined),
  async isSigned(reads, input, signature) {
    return (await readSigned(reads, input, { digestOf, signature }))?.isByKey ?? false
  },
  findObstacle: (reads, swap) => findSignedObstacle(reads, swap, takesPermit),
  tryOn,
}

const digestOf: Parameters<typeof readSigned>[2]['digestOf'] = (separator, escrow, input) => {
  const terms = { ...paidBy(input), nonce: input.permitNonce ?? 0n }
  return permitDigest(separator, permitOf({ escrow }, input.hash as Hex, terms))
}

function encodeLock({ op, signature }: Swap): Hex {
  const { r, s, yParity } = parseSignature(signature as Hex)
  const args = [toEscrowOp(op), BigInt(op.opDeadline), 27 + yParity, r, s] as const
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockPermitted', args })
}

/** Whether the token would accept the permit. Anyone may have used it first: then the allowance is there. */
export async function takesPermit(
  client: PublicClient,
  escrow: Address,
  { op, signature }: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const terms = { ...paidBy(op), nonce: op.permitNonce ?? 0n }
  const message = permitOf({ escrow }, op.hash as Hex, terms)
  const { owner, spender, value } = message
  const token = { address: op.inputToken as Address, blockNumber } as const
  const allowance = { ...token, abi: erc20Abi, functionName: 'allowance', args: [owner, spender] } as const
  const allowed = await attempt(client, () => strangeReads(client).readContract(allowance), blockNumber)
  if (allowed.kind === 'ok' && allowed.result >= value) return true
  const call = { ...token, account: escrow, gas: TAKE_GAS }
  const permit = () => client.simulateContract({ ...call, ...permitBy(message, signature as Hex) })
  return (await attempt(client, permit, blockNumber)).kind === 'ok'
}

function permitBy({ owner, spender, value, deadline }: ReturnType<typeof permitOf>, signature: Hex) {
  const { r, s, yParity } = parseSignature(signature)
  const args = [owner, spender, value, deadline, 27 + yParity, r, s] as const
  return { abi: signedTokenAbi, functionName: 'permit', args } as const
}

/** Has the token permit one unit of nothing. */
async function tryOn(
  client: PublicClient,
  { token: address, escrow }: TriedToken,
  { domain, account }: TriedKey,
) {
  const unit = { wallet: account.address, inputAmount: 1n, opDeadline: NEVER, nonce: 0n }
  const message = permitOf({ escrow }, keccak256(account.address), unit)
  const typed = { types: permitTypes, primaryType: 'Permit', message } as const
  const signature = await account.signTypedData({ domain, ...typed })
  const call = { address, account: escrow, gas: STRANGE_GAS }
  return client.simulateContract({ ...call, ...permitBy(message, signature) })
}
