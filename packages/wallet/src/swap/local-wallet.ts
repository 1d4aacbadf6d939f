import type { Client } from '@geoswap/sdk'
import { formatAmount } from '../amounts.ts'
import type { Side } from '../catalog.ts'
import { type Context, nodeOf } from '../context.ts'
import { UserError } from '../errors.ts'
import type { ReadyOrder } from '../order.ts'
import { LOCAL_WALLET } from '../store/wallet-files.ts'

/** The local network's wallet starts empty; the faucet provides the missing input of a swap. */
export async function fillLocalWallet(context: Context, client: Client, ready: ReadyOrder): Promise<void> {
  const { from, wallet, order } = ready
  if (wallet.name !== LOCAL_WALLET || order.amount === 'max') return
  const needed = await readInput(context, client, ready)
  const held = await nodeOf(context, from.chain).balanceOf(wallet.address, from.token.address)
  const missing = missingOf({ needed, held })
  if (missing === 0n) return
  await askFaucet(context, from, { address: wallet.address, amount: missing })
  const amount = formatAmount(missing, from.token.decimals)
  context.terminal.note(
    `The faucet gave ${amount} ${from.token.symbol} to ${wallet.address} on ${from.chain.name}.`,
  )
}

/** Fills up to twice the input: a lagging node still shows the input of the last swap. */
export function missingOf({ needed, held }: { needed: bigint; held: bigint }): bigint {
  return held >= 2n * needed ? 0n : 2n * needed - held
}

async function readInput(
  { interrupts }: Context,
  client: Client,
  { request, wallet }: ReadyOrder,
): Promise<bigint> {
  if (request.tradeType !== 'exactOutput') return BigInt(request.amount)
  const asked = { ...request, walletAddress: wallet.address }
  const { input } = await client.quote(asked, { signal: interrupts.signal })
  // The signed quote is made a moment later and may cost more.
  return (BigInt(input) * 102n) / 100n
}

export async function askFaucet(
  { settings, interrupts }: Context,
  { chain, token }: Side,
  { address, amount }: { address: string; amount: bigint },
): Promise<string> {
  const advice = 'Only a network of npm start has one.'
  if (!settings.local) throw new UserError('NO_FAUCET', 'There is no faucet here.', { advice })
  const gift = { chainId: chain.chainId, address, token: token.address, amount: amount.toString() }
  const { signal } = interrupts
  const post = { method: 'POST', body: JSON.stringify(gift), signal }
  const response = await fetch(settings.local.faucetUrl, post).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new UserError('NO_FAUCET', 'The faucet does not answer.', {
      advice: 'Is npm start still running?',
      cause,
    })
  })
  const reply = (await response.json()) as { txHash?: string; message?: string }
  if (reply.txHash !== undefined) return reply.txHash
  throw new UserError('NO_FAUCET', `The faucet refused: ${reply.message}`)
}
