import { geoEscrowAbi, type RefundableOp, type SlotState, slotStateOf } from '@geoswap/protocol'
import { encodeFunctionData } from 'viem'
import { callNode } from '../chain/rpc.ts'
import type { EvmCall } from '../wallets/wallet.ts'

// Above the gas that the escrow requires, so that the amount is paid and not just credited.
const REFUND_GAS = 350_000n
const POLL_MS = 500
const INCLUSION_TIMEOUT_MS = 120_000

/** The state of an op on its chain, and the chain's clock in seconds. */
export async function readEscrow(
  rpcUrl: string,
  { origin, locker, position, hash }: RefundableOp,
): Promise<{ state: SlotState; chainNow: number }> {
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'slot', args: [locker, position] })
  const [word, { timestamp }] = await Promise.all([
    callNode<string>(rpcUrl, 'eth_call', [{ to: origin.escrow, data }, 'latest']),
    callNode<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false]),
  ])
  return { state: slotStateOf(BigInt(word), hash), chainNow: Number(timestamp) }
}

type Sending = { op: RefundableOp; rpcUrl: string; send(call: EvmCall): Promise<string> }

/** Sends the refund and waits for its block. The op's slot, not the receipt, tells whether it succeeded. */
export async function sendRefund({ op, rpcUrl, send }: Sending): Promise<string> {
  const args = [op.locker, op.argument] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args })
  const { chainId, escrow: to } = op.origin
  const txHash = await send({ chainId, rpcUrl, to, data, gas: REFUND_GAS })
  await waitForReceipt(rpcUrl, txHash)
  const { state } = await readEscrow(rpcUrl, op)
  if (state !== 'refunded') throw new Error(`Transaction ${txHash} refunded nothing.`)
  return txHash
}

async function waitForReceipt(rpcUrl: string, txHash: string): Promise<void> {
  const end = Date.now() + INCLUSION_TIMEOUT_MS
  while (Date.now() < end) {
    if (await callNode<unknown>(rpcUrl, 'eth_getTransactionReceipt', [txHash])) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`Transaction ${txHash} is not in a block yet. Check again later.`)
}
