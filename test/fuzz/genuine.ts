import type { PrivateKeyAccount } from 'viem/accounts'
import { outcomeOf, prepare, submitSwap, toRequest, type World } from '../world.ts'
import { offerIn, signPayment, usdcUrl } from '../x402.ts'
import type { Genuine } from './requests.ts'

const USDC = 10n ** 6n

/** Everything that a caller of this network can have: ids, tokens, a swap, and signatures for another one. */
export async function gatherGenuine(world: World, wallet: PrivateKeyAccount): Promise<Genuine> {
  const { alpha, beta, local } = world
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const { swapId, quote, submission } = await submitSwap(world, wallet, order)
  await outcomeOf(world, swapId)
  const open = await prepare(world, wallet, order)
  const request = toRequest(wallet, order)
  const paid = await signOffer(world, wallet)
  const chainIds = local.chains.map(({ chainId }) => chainId)
  const tokens = local.chains.flatMap((chain) => chain.tokens.map(({ address }) => address))
  return {
    ...{ originChain: chainIds, destinationChain: chainIds, chainId: chainIds },
    ...{
      inputToken: tokens,
      outputToken: tokens,
      token: tokens,
      address: [alpha.contracts.account, ...tokens],
    },
    ...{ amount: [request.amount, '1', '1000000000000000000'], slippageBps: [1, 50, 5_000] },
    ...{ walletAddress: [wallet.address], wallet: [wallet.address], recipient: [wallet.address, ...tokens] },
    ...{ geoQuoteToken: [quote.geoQuoteToken, open.quote.geoQuoteToken] },
    ...{ geoOpToken: [submission.geoOpToken], signature: [submission.signature, open.submission.signature] },
    ...{
      swapId: [swapId, `swp_${'0'.repeat(32)}`],
      wait: ['0', '0.1'],
      limit: ['1', '100'],
      status: ['pending', 'settled'],
    },
    ...paid,
  }
}

/** A payment that the service would take, and the request that it belongs to. */
async function signOffer({ alpha, beta, local }: World, wallet: PrivateKeyAccount): Promise<Genuine> {
  const url = usdcUrl(local.apiUrl, { from: alpha, to: beta, wallet, amount: 10n * USDC })
  const answer = await fetch(url)
  const offer = offerIn(answer.headers)
  if (!offer) throw new Error(`Nothing is offered to payers: ${answer.status} ${await answer.text()}`)
  const { header } = await signPayment(wallet, offer)
  return { payment: [header], paidQuery: [new URL(url).search.slice(1)] }
}
