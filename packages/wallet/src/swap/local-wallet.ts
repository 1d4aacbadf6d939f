import { formatAmount } from '../amounts.ts'
import type { Side } from '../catalog.ts'
import { type Context, nodeOf } from '../context.ts'
import { UserError } from '../errors.ts'
import type { ReadyOrder } from '../order.ts'
import { LOCAL_WALLET } from '../store/wallet-files.ts'

/** The local network's wallet starts empty; the faucet provides the missing input of a quoted swap. */
export async function fillLocalWallet(
  context: Context,
  { from, wallet, order }: ReadyOrder,
  needed: bigint,
): Promise<void> {
  if (wallet.name !== LOCAL_WALLET || order.amount === 'max') return
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
