// A wallet that holds only 10 USDC on alpha swaps it for USDC on beta.
// Run it with a running network: node examples/first-swap.mjs [local.json]
import { readFileSync } from 'node:fs'
import { hashTypedData, pad } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const file = process.argv[2] ?? `${process.env.GEOSWAP_HOME ?? '.geoswap'}/local.json`
const { apiUrl, apiKey, faucetUrl, chains } = JSON.parse(readFileSync(file, 'utf8'))
const [alpha, beta] = chains.map(({ chainId, contracts, tokens }) => ({
  chainId,
  contracts,
  usdc: tokens.find(({ symbol }) => symbol === 'USDC').address,
}))
const call = async (path, body) => {
  const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) }
  const post = body && { method: 'POST', body: JSON.stringify(body) }
  const reply = await fetch(apiUrl + path, { headers, ...post })
  const answer = await reply.json()
  if (!reply.ok) throw new Error(`${path}: ${answer.code}: ${answer.message}`)
  return answer
}
/** The service is not believed: what is signed has to match the request and the contracts of local.json. */
const mustBe = (signed, wanted) => {
  for (const [name, value] of Object.entries(wanted))
    if (String(signed[name]).toLowerCase() !== String(value).toLowerCase())
      throw new Error(`The service wants another ${name} signed: ${signed[name]}`)
}

// A new wallet: 10 USDC on alpha, no gas coin anywhere.
const wallet = privateKeyToAccount(generatePrivateKey())
const { chainId, usdc: inputToken } = alpha
const [walletAddress, amount] = [wallet.address, '10000000']
const gift = { chainId, address: walletAddress, token: inputToken, amount }
await fetch(faucetUrl, { method: 'POST', body: JSON.stringify(gift) })

// Its first swap on a chain includes a signed EIP-7702 authorization; later ones need none.
const delegation = await call(`/swap/delegation?chainId=${chainId}&walletAddress=${walletAddress}`)
mustBe(delegation, { delegationTarget: alpha.contracts.account })
const fields = { chainId, address: delegation.delegationTarget, nonce: delegation.accountNonce }
const { yParity, r, s } = await wallet.signAuthorization(fields)
const authorization = { ...fields, yParity, r, s }

const route = { originChain: chainId, destinationChain: beta.chainId, inputToken, outputToken: beta.usdc }
const { geoQuoteToken } = await call('/swap/quote', { ...route, amount, walletAddress })
const built = await call('/swap/build-geo-op', { geoQuoteToken, authorization })
const { geoOpHash, geoOpToken, operation } = built
const { domain, message } = operation
const leastOutput = 9_800_000n // two percent less than the input
if (BigInt(message.delivery.minOutput) < leastOutput) throw new Error('The minimum output is too low')
mustBe(domain, { chainId, verifyingContract: alpha.contracts.escrow })
mustBe(message, { wallet: walletAddress, inputToken, inputAmount: amount })
mustBe(message.delivery, {
  destinationChain: beta.chainId,
  vault: pad(beta.contracts.vault),
  outputToken: pad(beta.usdc),
  recipient: pad(walletAddress),
})
mustBe({ geoOpHash }, { geoOpHash: hashTypedData(operation) })
const signature = await wallet.signMessage({ message: { raw: geoOpHash } })
const { swapId } = await call('/swap/submit', { geoOpToken, signature })

let swap = await call(`/swap/status/${swapId}`)
while (swap.status === 'pending') swap = await call(`/swap/status/${swapId}`)
process.stdout.write(`${JSON.stringify(swap, null, 2)}\n`)
