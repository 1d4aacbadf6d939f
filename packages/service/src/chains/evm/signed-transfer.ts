import { authorizationOf, permitOf, signedTokenAbi } from '@geoswap/protocol'
import { type Address, erc20Abi, type Hex, type PublicClient, parseSignature } from 'viem'
import type { Op, Swap } from '../../model/swap.ts'
import { attempt } from './attempt.ts'
import type { EvmChainSettings } from './settings.ts'
import { strangeReads } from './strange-reads.ts'

type Settings = Pick<EvmChainSettings, 'escrow'>

// As much as a lock has for one input, and the cost of a call. It bounds the answer of a wallet, which a token may
// copy into its own: memory for half a megabyte costs more.
const GAS = 300_000n

/** Whether the token would pay the escrow by the swap's authorization, in a call that changes nothing. */
export async function takesAuthorization(
  client: PublicClient,
  settings: Settings,
  { op, signature }: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const message = authorizationOf(settings, op.hash as Hex, paidBy(op))
  const { from, to, value, validAfter, validBefore, nonce } = message
  const call = {
    address: op.inputToken as Address,
    abi: signedTokenAbi,
    functionName: 'receiveWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature as Hex],
    account: settings.escrow,
    gas: GAS,
    blockNumber,
  } as const
  const { kind } = await attempt(client, () => client.simulateContract(call), blockNumber)
  return kind === 'ok'
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
  const allowed = await attempt(client, () => strangeReads(client).readContract(allowance), blockNumber)
  if (allowed.kind === 'ok' && allowed.result >= value) return true
  const { r, s, yParity } = parseSignature(signature as Hex)
  const call = {
    ...token,
    abi: signedTokenAbi,
    functionName: 'permit',
    account: settings.escrow,
    gas: GAS,
    args: [owner, spender, value, deadline, 27 + yParity, r, s],
  } as const
  const { kind } = await attempt(client, () => client.simulateContract(call), blockNumber)
  return kind === 'ok'
}

const paidBy = (op: Op) => ({
  wallet: op.wallet as Address,
  inputAmount: op.inputAmount,
  opDeadline: BigInt(op.opDeadline),
})
