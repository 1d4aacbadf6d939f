import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as FacilitatorScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme as SellerScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import {
  type Address,
  createWalletClient,
  http,
  type PublicActions,
  parseAbi,
  publicActions,
  type TestActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

type SellerChain = {
  chainId: number
  token(symbol: string): Address
  balanceOf(owner: Address, symbol: string): Promise<bigint>
  client: Pick<PublicActions & TestActions, 'readContract' | 'setBalance'>
}

export type Request = { header(name: string): string | undefined; headers: Record<string, unknown> }
export type Response = {
  status(code: number): Response
  setHeader(name: string, value: unknown): unknown
  set(name: string, value: string): Response
  end(body?: string | Buffer): unknown
  json(value: object): unknown
  redirect(to: string): unknown
  destroy(): unknown
}
export type Next = () => void
type Act = (request: Request, response: Response, next: Next) => unknown
type App = RequestListener & { use(act: unknown): void; get(path: string, act: Act): void }

// The package has no types.
const express: () => App = createRequire(import.meta.url)('express')
const PAYMENT = 'payment-signature'
const abi = parseAbi(['function name() view returns (string)', 'function version() view returns (string)'])

export type Seller = Awaited<ReturnType<typeof startSeller>>

/** Settles payments on this chain, with the classes that public facilitators run. */
async function createFacilitator(chain: SellerChain, rpcUrl: string) {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.client.setBalance({ address: account.address, value: 10n ** 20n })
  const client = createWalletClient({
    account,
    transport: http(rpcUrl),
    cacheTime: 0,
    pollingInterval: 200,
  }).extend(publicActions)
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (call) => client.readContract(call as never),
    verifyTypedData: (call) => client.verifyTypedData(call as never),
    writeContract: (call) => client.writeContract({ ...call, chain: null } as never),
    sendTransaction: (call) => client.sendTransaction({ ...call, chain: null } as never),
    waitForTransactionReceipt: (call) => client.waitForTransactionReceipt(call),
    getCode: (call) => client.getCode(call),
  })
  return new x402Facilitator().register(`eip155:${chain.chainId}`, new FacilitatorScheme(signer))
}

/** Sells for USDC on one EVM chain. */
export async function startSeller(chain: SellerChain, rpcUrl: string, price: bigint) {
  const payTo = privateKeyToAccount(generatePrivateKey()).address
  const facilitator = await createFacilitator(chain, rpcUrl)
  const asset = chain.token('USDC')
  const [name, version] = await Promise.all([
    chain.client.readContract({ address: asset, abi, functionName: 'name' }),
    chain.client.readContract({ address: asset, abi, functionName: 'version' }),
  ])
  const network = `eip155:${chain.chainId}` as const
  const server = new x402ResourceServer(facilitator as never).register(network, new SellerScheme())
  const seller = await serveReport(server, { network, payTo, price, asset, extra: { name, version } })
  return Object.assign(seller, { earned: () => chain.balanceOf(seller.payTo, 'USDC') })
}

type Sold<Payee> = {
  network: `${string}:${string}`
  payTo: Payee
  price: bigint
  asset: string
  extra: Record<string, unknown>
  /** Sees requests before all others. */
  first?: Act
}

/** The public server of x402, which sells `{ "report": … }`. `act` sees requests first. */
export async function serveReport<Payee extends string>(server: x402ResourceServer, sold: Sold<Payee>) {
  const { network, payTo, price, asset, extra, first } = sold
  const seller = {
    ...{ payTo, price, payments: [] as string[], asked: 0 },
    act: (_request: Request, _response: Response, next: Next): unknown => next(),
  }
  const cost = () => ({ asset, amount: seller.price.toString(), extra })
  const accepts = { scheme: 'exact', network, payTo: () => seller.payTo, price: cost, maxTimeoutSeconds: 120 }
  const app = express()
  if (first) app.use(first)
  app.use((request: Request, response: Response, next: Next) => {
    const paid = request.header(PAYMENT)
    if (paid === undefined) seller.asked += 1
    else seller.payments.push(nonceIn(paid))
    seller.act(request, response, next)
  })
  app.use(paymentMiddleware({ 'GET /report': { accepts, description: 'A report' } }, server))
  app.get('/report', (_request, response) => void response.json({ report: 'fine' }))
  const listening = await listen(createServer(app))
  const { port } = listening.address() as AddressInfo
  return Object.assign(seller, {
    url: `http://127.0.0.1:${port}/report`,
    stop: () => new Promise((resolve) => listening.close(resolve).closeAllConnections()),
  })
}

export const isPaid = (request: Request): boolean => request.header(PAYMENT) !== undefined

function nonceIn(header: string): string {
  const { authorization, transaction } = JSON.parse(Buffer.from(header, 'base64').toString()).payload
  return authorization?.nonce ?? transaction
}

async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
