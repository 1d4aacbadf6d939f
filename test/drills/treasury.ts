import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { WorldChain } from '../world.ts'
import { Failed } from './report.ts'
import type { Scene } from './scene.ts'

const GAS = 500_000n
const POLL_MS = 100

/** Sends a transaction with the treasury's key; resolves when it is in a block. */
export async function asTreasury(
  { network }: Scene,
  { client, name }: WorldChain,
  call: { to: Address; data: Hex },
): Promise<void> {
  const account = privateKeyToAccount(network.keys.treasury.privateKey)
  const hash = await client.sendTransaction({ account, chain: null, gas: GAS, ...call })
  const { status } = await client.waitForTransactionReceipt({ hash, pollingInterval: POLL_MS })
  if (status !== 'success') throw new Failed(`the treasury's transaction ${hash} failed on ${name}`)
}
