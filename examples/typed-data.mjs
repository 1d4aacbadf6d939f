// A wallet that signs typed data and nothing else swaps 10 USDC of alpha for USDC on beta: no personal_sign, no EIP-7702
// authorization, no transaction. Run it with a running network: node --import tsx examples/typed-data.mjs [local.json]
import { readFileSync } from 'node:fs'
import { createClient, fromTypedData } from '@geoswap/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const file = process.argv[2] ?? `${process.env.GEOSWAP_HOME ?? '.geoswap'}/local.json`
const { apiUrl, apiKey, faucetUrl, chains, pins } = JSON.parse(readFileSync(file, 'utf8'))
const [alpha, beta] = chains.map(({ chainId, tokens }) => ({
  chainId,
  usdc: tokens.find(({ symbol }) => symbol === 'USDC').address,
}))

// In the place of your wallet: an EIP-1193 provider that knows one method.
const account = privateKeyToAccount(generatePrivateKey())
const { address } = account
const provider = {
  async request({ method, params: [, data] }) {
    if (method !== 'eth_signTypedData_v4') throw new Error(`The wallet does not know ${method}`)
    return account.signTypedData(JSON.parse(data))
  },
}
const gift = { chainId: alpha.chainId, address, token: alpha.usdc, amount: '10000000' }
await fetch(faucetUrl, { method: 'POST', body: JSON.stringify(gift) })

const client = createClient({ baseUrl: apiUrl, apiKey, contracts: pins })
const request = {
  originChain: alpha.chainId,
  destinationChain: beta.chainId,
  inputToken: alpha.usdc,
  outputToken: beta.usdc,
  amount: '10000000',
}
const sameAsset = { inputDecimals: 6, outputDecimals: 6, maxCostBps: 100 }
const swap = await client.swap(request, fromTypedData(address, provider), { sameAsset })
process.stdout.write(`${JSON.stringify(swap, null, 2)}\n`)
