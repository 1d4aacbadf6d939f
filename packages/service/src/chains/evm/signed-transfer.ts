import { authorizationOf, permitOf, signedTokenAbi } from '@geoswap/protocol'
import { type Address, erc20Abi, type Hex, type PublicClient, parseSignature } from 'viem'
import type { Op, Swap } from '../../model/swap.ts'
import { refusalOf } from './refused.ts'
import type { EvmChainSettings } from './settings.ts'

type Settings = Pick<EvmChainSettings, 'escrow'>

/** Whether the token would pay the escrow by the swap's authorization, in a call that changes nothing. */
export async function takesAuthorization(
  client: PublicClient,
  settings: Settings,
  { op, signature }: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const message = authorizationOf(settings, op.hash as Hex, paidBy(op))
  const { from, to, value, validAfter, validBefore, nonce } = message
  return isAccepted(
    client.simulateContract({
      address: op.inputToken as Address,
      abi: signedTokenAbi,
      functionName: 'receiveWithAuthorization',
      args: [from, to, value, validAfter, validBefore, nonce, signature as Hex],
      account: settings.escrow,
      blockNumber,
    }),
  )
}

/** Whether the token would accept the permit. Anyone may have used it first: then the allowance is there. */
export async function takesPermit(
  client: PublicClient,
  settings: Settings,
  { op, signature }: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const { owner, spender, value, deadline } = permitOf(settings, op.hash as Hex, {
    ...paidBy(op),
    nonce: op.permitNonce ?? 0n,
  })
  const token = { address: op.inputToken as Address, blockNumber } as const
  const allowance = { ...token, abi: erc20Abi, functionName: 'allowance', args: [owner, spender] } as const
  if ((await client.readContract(allowance)) >= value) return true
  const { r, s, yParity } = parseSignature(signature as Hex)
  return isAccepted(
    client.simulateContract({
      ...token,
      abi: signedTokenAbi,
      functionName: 'permit',
      account: settings.escrow,
      args: [owner, spender, value, deadline, 27 + yParity, r, s],
    }),
  )
}

const paidBy = (op: Op) => ({
  wallet: op.wallet as Address,
  inputAmount: op.inputAmount,
  opDeadline: BigInt(op.opDeadline),
})

async function isAccepted(simulated: Promise<unknown>): Promise<boolean> {
  try {
    await simulated
    return true
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
    return false
  }
}
