// The same swap as first-swap.mjs with the SDK: a new wallet on alpha swaps 10 USDC for USDC on beta.
// Run it with a running network: node --import tsx examples/sdk-swap.mjs [local.json]
import { readFileSync } from 'node:fs'
import { createClient, fromViemAccount } from '@geoswap/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const file = process.argv[2] ?? `${process.env.GEOSWAP_HOME ?? '.geoswap'}/local.json`
const { apiUrl, apiKey, faucetUrl, chains, pins } = JSON.parse(readFileSync(file, 'utf8'))
const [alpha, beta] = chains.map(({ chainId, tokens }) => ({
  chainId,
  usdc: tokens.find(({ symbol }) => symbol === 'USDC').address,
}))

const account = privateKeyToAccount(generatePrivateKey())
const gift = { chainId: alpha.chainId, address: account.address, token: alpha.usdc, amount: '10000000' }
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
const swap = await client.swap(request, fromViemAccount(account), { sameAsset })
process.stdout.write(`${JSON.stringify(swap, null, 2)}\n`)
