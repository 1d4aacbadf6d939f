import type { PrivateKeyAccount } from 'viem/accounts'
import type { toRequest } from '../../world.ts'
import { domainOf, type Offer, offerIn, signPayment, X402_PATH } from '../../x402.ts'
import type { TransferOffer } from '../../x402-solana.ts'
import type { EvmChainName } from '../plan.ts'
import { cancelAuthorization } from './hostile-actions.ts'
import type { Ask, Party, Payer, Scene } from './scene.ts'
import { payerOnSolana } from './solana-payments.ts'

type Asked = { request: ReturnType<typeof toRequest> }
type Reply = { swapId?: string; error?: string }

/** Asks, pays and asks again, as wallets do that know HTTP 402. */
export async function submitByPayment(
  scene: Scene,
  party: Party,
  { request }: Asked,
): Promise<string | undefined> {
  const { caller, random } = scene
  const { walletAddress, originChain, destinationChain, ...order } = request
  const chains = { originChain: String(originChain), destinationChain: String(destinationChain) }
  const body = { ...order, ...chains, wallet: walletAddress }
  const ask: Ask = async <AnyOffer>() =>
    offerIn<AnyOffer>((await caller.call('POST', X402_PATH, body)).headers)
  const payer = await payerOf(scene, party, ask)
  if (!payer) return undefined
  const pay = async (header: string) => {
    const answer = await caller.call<Reply>('POST', X402_PATH, body, { 'payment-signature': header })
    return answer.body.swapId ?? /swp_\w+/.exec(answer.body.error ?? '')?.[0]
  }
  const payAll = async (headers: readonly string[]) =>
    (await Promise.all(headers.map(pay))).find((swapId) => swapId !== undefined)
  const { first } = payer
  switch (party.plan.behaviour) {
    case 'twoPayments':
      return payAll([first, await payer.second()])
    case 'wrongPayments':
      return payAll(await payer.wrong(ask))
    case 'cancelledPayment': {
      const [swapId] = await Promise.all([pay(first), payer.takeBack()])
      return swapId
    }
    default:
      return payAll(random.next() < 0.3 ? [first, first] : [first])
  }
}

async function payerOf(scene: Scene, { plan, wallet }: Party, ask: Ask): Promise<Payer | undefined> {
  if (plan.from === 'solana') {
    const offer = await ask<TransferOffer>()
    return offer && payerOnSolana(scene, wallet as never, offer)
  }
  const offer = await ask<Offer>()
  if (!offer) return undefined
  scene.onOpAddress(plan.from, offer.payTo)
  return payerOnEvm(scene, { from: plan.from, wallet: wallet as PrivateKeyAccount, offer })
}

type OnEvm = { from: EvmChainName; wallet: PrivateKeyAccount; offer: Offer }

async function payerOnEvm({ world }: Scene, { from, wallet, offer }: OnEvm): Promise<Payer> {
  const sign = async (changed?: Parameters<typeof signPayment>[2]) =>
    (await signPayment(wallet, offer, changed)).header
  const { header: first, nonce } = await signPayment(wallet, offer)
  return {
    first,
    second: sign,
    wrong: async () => [
      await sign({ value: String(BigInt(offer.amount) - 1n) }),
      await sign({ validBefore: '1' }),
    ],
    takeBack: () => cancelAuthorization(world.chainNamed(from), { domain: domainOf(offer), nonce }, wallet),
  }
}
