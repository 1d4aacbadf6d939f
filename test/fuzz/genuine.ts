import type { PrivateKeyAccount } from 'viem/accounts'
import type { SolanaWorld } from '../solana-world.ts'
import { outcomeOf, prepare, submitSwap, toRequest, type World } from '../world.ts'
import { type Offer, offerIn, signPayment, usdcUrl } from '../x402.ts'
import { type TransferOffer, toTransfer, transferHeader } from '../x402-solana.ts'
import type { Genuine } from './requests.ts'

const USDC = 10n ** 6n

/** Everything that a caller of this network can have: ids, tokens, a swap, and signatures for another one. */
export async function gatherGenuine(
  world: World,
  solana: SolanaWorld,
  wallet: PrivateKeyAccount,
): Promise<Genuine> {
  const { alpha, beta, local } = world
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const { swapId, quote, submission } = await submitSwap(world, wallet, order)
  await outcomeOf(world, swapId)
  const open = await prepare(world, wallet, order)
  const request = toRequest(wallet, order)
  const paid = [await payOnEvm(world, wallet), await payOnSolana(world, solana, wallet.address)]
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
    payment: paid.map(({ header }) => header),
    paidQuery: paid.map(({ url }) => new URL(url).search.slice(1)),
  }
}

/** A payment that the service would take, and the request that it belongs to. */
async function payOnEvm({ alpha, beta, local }: World, wallet: PrivateKeyAccount) {
  const url = usdcUrl(local.apiUrl, { from: alpha, to: beta, wallet, amount: 10n * USDC })
  const { header } = await signPayment(wallet, await askFor<Offer>(url))
  return { url, header }
}

async function payOnSolana({ beta, local }: World, solana: SolanaWorld, recipient: string) {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const url = usdcUrl(local.apiUrl, { from: solana, to: beta, wallet, recipient, amount: 10n * USDC })
  const offer = await askFor<TransferOffer>(url)
  return { url, header: transferHeader(offer, await toTransfer(wallet, offer)) }
}

async function askFor<AnyOffer>(url: string): Promise<AnyOffer> {
  const answer = await fetch(url)
  const offer = offerIn<AnyOffer>(answer.headers)
  if (!offer) throw new Error(`Nothing is offered to payers: ${answer.status} ${await answer.text()}`)
  return offer
}
