import { createSolanaRpc, generateKeyPairSigner, lamports } from '@solana/kit'
import { x402Facilitator } from '@x402/core/facilitator'
import { x402ResourceServer } from '@x402/express'
import { toFacilitatorSvmSigner } from '@x402/svm'
import { ExactSvmScheme as FacilitatorScheme } from '@x402/svm/exact/facilitator'
import { ExactSvmScheme as SellerScheme } from '@x402/svm/exact/server'
import { type Next, type Request, type Response, serveReport } from './x402-seller.ts'

type SellerChain = {
  chainId: number
  token(symbol: string): string
  balanceOf(owner: string, token: string): Promise<bigint>
  fund(owner: string, symbol: string, amount: bigint): Promise<void>
}

const LAMPORTS = 10n ** 9n
// The public server knows the public clusters alone: on the wire the local chain has its own name.
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'

export type SolanaSeller = Awaited<ReturnType<typeof startSolanaSeller>>

/** Sells for USDC on Solana, and settles with the classes that public facilitators run. */
export async function startSolanaSeller(chain: SellerChain, rpcUrl: string, price: bigint) {
  const [feePayer, payee] = [await generateKeyPairSigner(), await generateKeyPairSigner()]
  await createSolanaRpc(rpcUrl).requestAirdrop(feePayer.address, lamports(LAMPORTS)).send()
  // A payee has a token account before it sells.
  await chain.fund(payee.address, 'USDC', 1n)
  const signer = toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: rpcUrl })
  const facilitator = new x402Facilitator().register(DEVNET, new FacilitatorScheme(signer))
  const server = new x402ResourceServer(facilitator as never).register(DEVNET, new SellerScheme())
  const asset = chain.token('USDC')
  const sold = { network: DEVNET, payTo: payee.address as string, price, asset, extra: {} } as const
  const seller = await serveReport(server, { ...sold, first: renameTo(`solana:${chain.chainId}`) })
  const earned = async () => (await chain.balanceOf(seller.payTo, asset)) - 1n
  return Object.assign(seller, { feePayer: feePayer.address, earned })
}

function renameTo(name: string) {
  const rename = (value: unknown, from: string, to: string) =>
    Buffer.from(Buffer.from(String(value), 'base64').toString().replaceAll(from, to)).toString('base64')
  return (request: Request, response: Response, next: Next) => {
    const paid = request.headers['payment-signature']
    if (paid !== undefined) request.headers['payment-signature'] = rename(paid, name, DEVNET)
    const set = response.setHeader.bind(response)
    response.setHeader = (header, value) =>
      set(header, /^payment-(required|response)$/i.test(header) ? rename(value, DEVNET, name) : value)
    next()
  }
}
