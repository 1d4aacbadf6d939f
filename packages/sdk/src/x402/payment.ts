import type { TypedData } from '@geoswap/wire'
import {
  type Abi,
  type Address,
  decodeFunctionResult,
  domainSeparator,
  encodeFunctionData,
  type Hex,
  parseAbi,
  toHex,
} from 'viem'
import { callNode } from '../checks/deployment.ts'
import { plainText } from '../errors.ts'
import type { X402Token } from './choose.ts'
import type { X402Standing } from './errors.ts'
import type { X402Demand, X402Offer } from './offers.ts'

/** A payment as it is stored: before it is signed, with its signature before it is sent. */
export type X402Payment = {
  version: 1 | 2
  chainId: number
  asset: Address
  symbol: string
  decimals: number
  domain: { name: string; version: string }
  authorization: {
    from: Address
    to: Address
    value: string
    validAfter: string
    validBefore: string
    nonce: Hex
  }
  signature?: string | undefined
  /** The seller's words that the header repeats. */
  repeats: { accepted: unknown; resource: unknown; extensions: unknown }
}

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]
const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

type Paying = { demand: X402Demand; offer: X402Offer; token: X402Token; payer: Address; nowSeconds: number }

/** A new payment: its nonce is random, and no other payment has it. */
export function createPayment({ demand, offer, token, payer, nowSeconds }: Paying): X402Payment {
  const { chainId, asset, amount, payTo, seconds, domain, accepted } = offer
  return {
    ...{ version: demand.version, chainId, asset, symbol: token.symbol, decimals: token.decimals, domain },
    authorization: {
      ...{ from: payer, to: payTo, value: `${amount}`, validAfter: '0' },
      validBefore: `${nowSeconds + seconds}`,
      nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
    },
    repeats: { accepted, resource: demand.resource, extensions: demand.extensions },
  }
}

export function toTypedData({ domain, chainId, asset, authorization }: X402Payment): TypedData {
  return {
    domain: { ...domain, chainId, verifyingContract: asset },
    types: { EIP712Domain: DOMAIN, TransferWithAuthorization: FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: { ...authorization },
  }
}

/** The header of the paid request. */
export function toHeader(payment: X402Payment): Record<string, string> {
  const { version, authorization, signature, repeats } = payment
  const payload = { signature, authorization }
  const { scheme, network } = repeats.accepted as Record<string, unknown>
  if (version === 1) return { 'X-PAYMENT': encode({ x402Version: 1, scheme, network, payload }) }
  return { 'PAYMENT-SIGNATURE': encode({ x402Version: 2, payload, ...repeats }) }
}

const encode = (value: object): string =>
  btoa(
    Array.from(new TextEncoder().encode(JSON.stringify(value)), (byte) => String.fromCharCode(byte)).join(''),
  )

export function standingOf(payment: X402Payment, state: 'open' | 'taken'): X402Standing {
  const { nonce, validBefore } = payment.authorization
  return { payment: state, nonce, until: Number(validBefore) }
}

const abi = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
])
const MAX_SYMBOL = 32
const MAX_DECIMALS = 77

/** The offer's token by the payer's own node; a text if it is not what the seller says. */
export async function readToken(
  rpcUrl: string | undefined,
  { chainId, asset, domain }: X402Offer,
  payer: Address,
): Promise<X402Token | string> {
  const where = `eip155:${chainId}`
  if (rpcUrl === undefined) return `${where}: no node of it is set`
  try {
    const read = readerOf(rpcUrl, asset)
    const [actual, separator, held, decimals, symbol] = await Promise.all([
      callNode(rpcUrl, 'eth_chainId', []),
      read('DOMAIN_SEPARATOR', []),
      read('balanceOf', [payer]),
      read('decimals', []),
      read('symbol', []),
    ])
    if (Number(actual) !== chainId) return `${where}: its node belongs to chain ${Number(actual)}`
    const signed = domainSeparator({ domain: { ...domain, chainId, verifyingContract: asset } })
    if (separator !== signed) return `${where}: ${asset} has another EIP-712 domain than the seller says`
    if (Number(decimals) > MAX_DECIMALS) return `${where}: ${asset} has ${decimals} decimals`
    const name = plainText(String(symbol), MAX_SYMBOL).trim()
    return { held: held as bigint, decimals: Number(decimals), symbol: name }
  } catch {
    return `${where}: its node does not describe ${asset} as a token that takes EIP-3009 payments`
  }
}

/** Whether the payment was taken, at one block, and the time of that block: after `validBefore` it never is. */
export async function readUse(rpcUrl: string, { asset, authorization: { from, nonce } }: X402Payment) {
  const block = await readBlock(rpcUrl)
  const isTaken = await readerOf(rpcUrl, asset, block.number)('authorizationState', [from, nonce])
  return { isTaken: isTaken === true, nowSeconds: Number(block.timestamp) }
}

/** The time of the chain, which judges the payment, or that of this machine, by which sellers judge it. */
export async function readNow(rpcUrl: string): Promise<number> {
  const { timestamp } = await readBlock(rpcUrl)
  return Math.max(Number(timestamp), Math.floor(Date.now() / 1_000))
}

async function readBlock(rpcUrl: string): Promise<{ number: Hex; timestamp: Hex }> {
  return (await callNode(rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as {
    number: Hex
    timestamp: Hex
  }
}

function readerOf(rpcUrl: string, to: Address, block = 'latest') {
  return async (functionName: string, args: readonly unknown[]) => {
    const call = { abi: abi as Abi, functionName }
    const data = encodeFunctionData({ ...call, args })
    return decodeFunctionResult({
      ...call,
      data: (await callNode(rpcUrl, 'eth_call', [{ to, data }, block])) as Hex,
    })
  }
}
