import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { outcomeOf, prepare, type Side, submitPrepared, type World } from '../../world.ts'
import type { Month } from './month.ts'

const AMOUNT = 10_000_000n

type Bought = { to: Side; buy: string; world?: Pick<World, 'api'> }

/** A swap of ten USDC on alpha for this token, and its recipient's address. */
export async function swapTo(month: Month, { to, buy, world = month.world }: Bought): Promise<string> {
  const { alpha } = month.world
  const wallet = await month.world.walletWith(alpha, 'USDC', AMOUNT)
  const isSolana = to.chainId === month.solana.chainId
  // With an account, so that no rent is in the price.
  const recipient = isSolana
    ? (await month.solana.wallet({ USDC: 1n, [buy]: 1n })).address
    : privateKeyToAddress(generatePrivateKey())
  const order = { from: alpha, sell: 'USDC', to, buy, amount: AMOUNT, recipient }
  const { swapId, quote } = await submitPrepared(world, await prepare(world, wallet, order))
  const { status } = await outcomeOf(world, swapId)
  month.expects(`a swap to ${buy} on chain ${to.chainId} settles`, status === 'settled', status)
  month.moved('alpha', AMOUNT)
  if (buy === 'USDC' && to.chainId === month.world.beta.chainId) month.moved('beta', -BigInt(quote.output))
  if (buy === 'USDC' && isSolana) month.moved('solana', -BigInt(quote.output))
  return swapId
}
