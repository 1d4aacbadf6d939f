import type { Address, PrivateKeyAccount } from 'viem'
import { describeError, type Env, type Output, UsageError } from '../../command.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'
import { type ChainWallet, openWallet, refusePending } from '../chain-wallet.ts'
import { findTreasury } from '../inventory/treasury.ts'
import { revertIn, type TreasuryCall } from './calls.ts'
import type { ChainPlan } from './read-chain.ts'

type Applied = {
  network: NetworkConfig
  chains: readonly EvmChainConfig[]
  isLocal: boolean
  plan(chain: EvmChainConfig): Promise<ChainPlan>
}

/** Plans every chain first, then sends the calls in order. Stops at the first that fails. */
export async function applyCalls(env: Env, applied: Applied, output: Output): Promise<number> {
  const { chains } = applied
  const plans = await Promise.all(chains.map(applied.plan))
  for (const { chain, notes } of plans) for (const note of notes) output.hint(`${chain.name}: ${note}`)
  const due = plans.filter(({ calls }) => calls.length > 0)
  const account = due[0] && (await openTreasury(env, applied, due[0].chain))
  const wallets = await Promise.all(due.map(({ chain }) => openReady(chain, account)))
  for (const [index, { chain, calls }] of due.entries())
    await sendAll(wallets[index] as ChainWallet, { chain, calls, output })
  const sent = due.reduce((sum, { calls }) => sum + calls.length, 0)
  output.out(
    sent === 0 ? 'Nothing to call.' : `Done: ${sent} ${sent === 1 ? 'call is' : 'calls are'} in blocks.`,
  )
  return 0
}

async function openTreasury(env: Env, { network, isLocal }: Applied, chain: EvmChainConfig) {
  const asked = { network, chain, kind: 'withdraw', isLocal } as const
  const { accounts } = await findTreasury(env, asked, { needsKey: true })
  return accounts[0]
}

async function openReady(
  chain: EvmChainConfig,
  account: PrivateKeyAccount | undefined,
): Promise<ChainWallet> {
  if (!account) throw new UsageError('GEOSWAP_TREASURY_KEY is not set.')
  const wallet = await openWallet(chain, account)
  await refusePending(wallet, chain, account.address)
  await refuseUnfunded(wallet, chain, account.address)
  return wallet
}

async function refuseUnfunded(
  { client }: ChainWallet,
  chain: EvmChainConfig,
  address: Address,
): Promise<void> {
  if ((await client.getBalance({ address })) > 0n) return
  throw new UsageError(`No gas at ${address} on ${chain.name}: the treasury pays for its calls.`)
}

type Batch = { chain: EvmChainConfig; calls: readonly TreasuryCall[]; output: Output }

async function sendAll(wallet: ChainWallet, { chain, calls, output }: Batch): Promise<void> {
  for (const [index, { to, value, data, text }] of calls.entries()) {
    const name = `${chain.name}: call ${index + 1} of ${calls.length}, ${text}`
    try {
      const { txHash } = await wallet.send({ to, value, data })
      output.out(`${name}\n  in a block: ${txHash}`)
    } catch (error) {
      const rest = 'Later calls were not sent. Run it again when the reason is gone.'
      throw new Error(`${name}\n  failed: ${revertIn(error) ?? describeError(error)}\n${rest}`, {
        cause: error,
      })
    }
  }
}
