import type { PrivateKeyAccount } from 'viem/accounts'
import type { toRequest } from '../../world.ts'
import { domainOf, offerIn, signPayment, X402_PATH } from '../../x402.ts'
import type { EvmChainName } from '../plan.ts'
import { cancelAuthorization } from './hostile-actions.ts'
import type { Party, Scene } from './scene.ts'

type Asked = { from: EvmChainName; request: ReturnType<typeof toRequest> }
type Reply = { swapId?: string; error?: string }

/** Asks, pays and asks again, as wallets do that know HTTP 402. */
export async function submitByPayment(
  { caller, world, random, onOpAddress }: Scene,
  party: Party,
  { from, request }: Asked,
): Promise<string | undefined> {
  const { walletAddress, originChain, destinationChain, ...order } = request
  const chains = { originChain: String(originChain), destinationChain: String(destinationChain) }
  const body = { ...order, ...chains, wallet: walletAddress }
  const offer = offerIn((await caller.call('POST', X402_PATH, body)).headers)
  if (!offer) return undefined
  onOpAddress(from, offer.payTo)
  const wallet = party.wallet as PrivateKeyAccount
  const first = await signPayment(wallet, offer)
  const pay = async ({ header }: { header: string }) => {
    const answer = await caller.call<Reply>('POST', X402_PATH, body, { 'payment-signature': header })
    return answer.body.swapId ?? /swp_\w+/.exec(answer.body.error ?? '')?.[0]
  }
  const payAll = async (payments: readonly { header: string }[]) =>
    (await Promise.all(payments.map(pay))).find((swapId) => swapId !== undefined)
  switch (party.plan.behaviour) {
    case 'twoPayments':
      return payAll([first, await signPayment(wallet, offer)])
    case 'wrongPayments':
      await pay(await signPayment(wallet, offer, { value: String(BigInt(offer.amount) - 1n) }))
      return pay(await signPayment(wallet, offer, { validBefore: '1' }))
    case 'cancelledPayment': {
      const [swapId] = await Promise.all([
        pay(first),
        cancelAuthorization(world.chainNamed(from), { domain: domainOf(offer), nonce: first.nonce }, wallet),
      ])
      return swapId
    }
    default:
      return payAll(random.next() < 0.3 ? [first, first] : [first])
  }
}
