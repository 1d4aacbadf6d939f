// The first swap by a client that is generated from the OpenAPI document:
//   npx openapi-typescript http://127.0.0.1:8080/openapi.json -o examples/geoswap-api.d.ts
//   node --import tsx examples/openapi-swap.ts [local.json]
import { readFileSync } from 'node:fs'
import createClient from 'openapi-fetch'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { paths } from './geoswap-api.js'

const file = process.argv[2] ?? `${process.env['GEOSWAP_HOME'] ?? '.geoswap'}/local.json`
const { apiUrl, apiKey, faucetUrl } = JSON.parse(readFileSync(file, 'utf8'))
const { GET, POST } = createClient<paths>({ baseUrl: apiUrl, headers: { 'x-api-key': apiKey } })

function assertFound<T>({ data, error }: { data?: T; error?: { code: string; message: string } }): T {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.message}`)
  return data
}

async function findUsdc(chainId: number): Promise<string> {
  const { tokens } = assertFound(await GET('/swap/tokens', { params: { query: { chainId } } }))
  return tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? ''
}

// A new wallet: 10 USDC on alpha, no gas coin anywhere.
const wallet = privateKeyToAccount(generatePrivateKey())
const [inputToken, outputToken] = [await findUsdc(31337), await findUsdc(31338)]
const gift = { chainId: 31337, address: wallet.address, token: inputToken, amount: '10000000' }
await fetch(faucetUrl, { method: 'POST', body: JSON.stringify(gift) })

const asked = { chainId: 31337, walletAddress: wallet.address }
const { delegationTarget, accountNonce = 0 } = assertFound(
  await GET('/swap/delegation', { params: { query: asked } }),
)
const fields = { chainId: 31337, address: delegationTarget as Hex, nonce: accountNonce }
const { yParity = 0, r, s } = await wallet.signAuthorization(fields)
const authorization = { ...fields, yParity, r, s }

const route = { originChain: 31337, destinationChain: 31338, inputToken, outputToken, amount: '10000000' }
const { geoQuoteToken } = assertFound(
  await POST('/swap/quote', { body: { ...route, walletAddress: wallet.address } }),
)
const { geoOpHash, geoOpToken } = assertFound(
  await POST('/swap/build-geo-op', { body: { geoQuoteToken, authorization } }),
)
const signature = await wallet.signMessage({ message: { raw: geoOpHash as Hex } })
const { swapId } = assertFound(await POST('/swap/submit', { body: { geoOpToken, signature } }))

const read = async () =>
  assertFound(await GET('/swap/status/{swapId}', { params: { path: { swapId }, query: { wait: 15 } } }))
let swap = await read()
while (swap.status === 'pending') swap = await read()
process.stdout.write(`${JSON.stringify(swap, null, 2)}\n`)
