import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  type ClientOptions,
  createClient,
  type EvmSigner,
  fromViemAccount,
  type SwapOptions,
} from '../src/index.ts'
import { account as delegate, evmRequest, origin, vault } from './evm-offer.ts'
import { type Fault, startService } from './service-double.ts'

/** Short pauses: the tests check their order, not their length. */
export const retry = { baseMs: 5, maxMs: 20, forMs: 2_000, submitForMs: 2_000 }

const contracts = {
  [origin.chainId]: { account: delegate, escrow: origin.escrow },
  [evmRequest.destinationChain]: { vault },
}

const { walletAddress: _, ...route } = evmRequest
export const request = route

export type Trader = Awaited<ReturnType<typeof startTrader>>

/** A client with a new wallet, connected to its own service with injectable faults. */
export async function startTrader() {
  const service = await startService()
  const signed: { hashes: number; nonces: number[] } = { hashes: 0, nonces: [] }
  const account = fromViemAccount(privateKeyToAccount(generatePrivateKey()))
  const signer: EvmSigner = {
    ...account,
    signHash: () => Promise.reject(new Error('Typed data is asked for where the signer has it')),
    async signTypedData(typedData) {
      signed.hashes += 1
      if (!account.signTypedData) throw new Error('It cannot')
      return account.signTypedData(typedData)
    },
    async signAuthorization(fields) {
      signed.nonces.push(fields.nonce)
      if (!account.signAuthorization) throw new Error('It cannot')
      return account.signAuthorization(fields)
    },
  }
  const clientWith = (options: Partial<ClientOptions>) =>
    createClient({ baseUrl: service.url, apiKey: 'key', retry, contracts, ...options })
  const client = clientWith({})
  return {
    ...{ service, signed, signer, client, clientWith },
    swap: (options: SwapOptions = {}) => client.swap(request, signer, options),
    countOf: (path: string) => service.requestsTo(path).length,
  }
}

export const causeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

export const repeated = (count: number, fault: Fault) => Array.from({ length: count }, () => fault)
