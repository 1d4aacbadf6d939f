import { depositAddressOf, geoEscrowAbi, type RefundableOp } from '@geoswap/protocol'
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseEventLogs, zeroAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { connectEvm } from '../nodes/evm-reads.ts'
import { callEscrow, isCredited } from './escrow.ts'

export type Lying = { token: Address; amount: bigint }

/** The op's own address, and what lies there of its input token, the native coin and other tokens. */
export async function readOpAddress(
  rpcUrl: string,
  op: RefundableOp,
  others: readonly string[],
): Promise<{ address: Address; lying: Lying[] }> {
  const client = connectEvm(rpcUrl)
  const address = depositAddressOf(op.origin.escrow, op.hash)
  const tokens = [...new Set([op.token, zeroAddress, ...(others as Address[])])]
  const held = await Promise.all(
    tokens.map(async (token) => {
      const call = { address: token, abi: erc20Abi, functionName: 'balanceOf', args: [address] } as const
      const amount = await (token === zeroAddress
        ? client.getBalance({ address })
        : client.readContract(call))
      return { token, amount }
    }),
  )
  return { address, lying: held.filter(({ amount }) => amount > 0n) }
}

type Recovery = { op: RefundableOp; token: Address; account: PrivateKeyAccount; onSent(txHash: Hex): void }

/**
 * Sends what lies of a token at the op's address to its wallet. Returns what left: 0 if the call had no effect.
 * `credited`: the wallet was refused it, and can withdraw it from the escrow.
 */
export async function sendRecover(
  rpcUrl: string,
  { op, token, account, onSent }: Recovery,
): Promise<{ txHash: Hex; amount: bigint; credited: boolean }> {
  const args = [op.locker, op.argument, token] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'recover', args })
  const receipt = await callEscrow(rpcUrl, { op, account, data, onSent })
  const { logs, transactionHash: txHash } = receipt
  const events = parseEventLogs({ abi: geoEscrowAbi, logs, eventName: 'Recovered' })
  const own = events.filter(({ args: { op: hash } }) => hash === op.hash)
  const amount = own.reduce((sum, { args }) => sum + args.amount, 0n)
  return { txHash, amount, credited: isCredited(receipt, op) }
}
