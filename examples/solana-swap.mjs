// A wallet that holds 10 USDC on solana and no SOL swaps it for USDC on alpha.
// Run it with a running network: node examples/solana-swap.mjs [local.json]
import { readFileSync } from 'node:fs'
import {
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  partiallySignTransaction,
} from '@solana/kit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'

const file = process.argv[2] ?? `${process.env.GEOSWAP_HOME ?? '.geoswap'}/local.json`
const { apiUrl, apiKey, faucetUrl, chains } = JSON.parse(readFileSync(file, 'utf8'))
const [alpha, solana] = ['alpha', 'solana'].map((wanted) => {
  const { chainId, tokens } = chains.find(({ name }) => name === wanted)
  return { chainId, usdc: tokens.find(({ symbol }) => symbol === 'USDC').address }
})
const call = async (path, body) => {
  const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) }
  const post = body && { method: 'POST', body: JSON.stringify(body) }
  const reply = await fetch(apiUrl + path, { headers, ...post })
  const answer = await reply.json()
  if (!reply.ok) throw new Error(`${path}: ${answer.code}: ${answer.message}`)
  return answer
}

// A new wallet: 10 USDC on solana, and no SOL.
const wallet = await generateKeyPairSigner()
const [walletAddress, amount] = [wallet.address, '10000000']
const gift = { chainId: solana.chainId, address: walletAddress, token: solana.usdc, amount }
await fetch(faucetUrl, { method: 'POST', body: JSON.stringify(gift) })

const route = {
  ...{ originChain: solana.chainId, destinationChain: alpha.chainId },
  ...{ inputToken: solana.usdc, outputToken: alpha.usdc },
}
const recipient = privateKeyToAddress(generatePrivateKey())
const { geoQuoteToken } = await call('/swap/quote', { ...route, amount, walletAddress, recipient })
const { unsignedTransaction, geoOpToken } = await call('/swap/build-solana-tx', { geoQuoteToken })

// The wallet adds its signature; the service, which pays the fee, adds its own.
const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(unsignedTransaction))
const signed = await partiallySignTransaction([wallet.keyPair], transaction)
const signedTransaction = getBase64EncodedWireTransaction(signed)
const { swapId } = await call('/swap/submit-solana', { geoOpToken, signedTransaction })

let swap = await call(`/swap/status/${swapId}`)
while (swap.status === 'pending') swap = await call(`/swap/status/${swapId}`)
process.stdout.write(`${JSON.stringify(swap, null, 2)}\n`)
