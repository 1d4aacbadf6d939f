import type { TypedData } from '@geoswap/wire'
import {
  type Abi,
  type Address,
  decodeFunctionResult,
  domainSeparator,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddress,
  maxUint256,
  parseAbi,
  toHex,
  zeroAddress,
} from 'viem'
import { callNode } from '../checks/deployment.ts'
import { plainText } from '../errors.ts'
import type {
  AnyOffer,
  EvmOffer,
  EvmPayment,
  Fields,
  NewPayment,
  PaymentFamily,
  X402Payer,
  X402Token,
} from './family.ts'

/** EVM chains: the payer signs EIP-712 typed data that the token itself takes, EIP-3009. */
export const evm: PaymentFamily = {
  parseAddress: (text) => (isAddress(text) ? getAddress(text) : undefined),
  canSign: (payer) => 'signTypedData' in payer && payer.signTypedData !== undefined,
  readOffer,
  readToken,
  async create(rpcUrl, payment: NewPayment<EvmOffer>) {
    return createPayment(payment, await readNow(rpcUrl))
  },
  async sign(payment: EvmPayment, payer: X402Payer) {
    const { signTypedData } = payer as Extract<X402Payer, { signTypedData?: unknown }>
    if (!signTypedData) throw new TypeError('The payer signs no typed data')
    return signTypedData(toTypedData(payment))
  },
  toPayload: async ({ signature, authorization }: EvmPayment) => ({ signature, authorization }),
  termsOf({ authorization: { from, to, value, validBefore, nonce } }: EvmPayment) {
    return { payer: from, payTo: to, amount: value, nonce, until: Number(validBefore) }
  },
  /** At one block: after `validBefore` none takes it. */
  async readUse(rpcUrl, { asset, authorization: { from, nonce, validBefore } }: EvmPayment) {
    const block = await readBlock(rpcUrl)
    const isTaken = await readerOf(rpcUrl, asset, block.number)('authorizationState', [from, nonce])
    if (isTaken === true) return 'taken'
    return Number(block.timestamp) >= Number(validBefore) ? 'over' : 'open'
  },
}

const MAX_WORD = 60

function readOffer(offer: AnyOffer, extra: Fields): EvmOffer | string {
  const { name, version, assetTransferMethod = 'eip3009' } = extra
  if (assetTransferMethod !== 'eip3009') return 'only EIP-3009 is signed'
  if (offer.amount > maxUint256) return 'the amount is no whole number'
  if (!isWord(name) || !isWord(version)) return "the token's EIP-712 domain is missing"
  if (offer.payTo === zeroAddress) return "payTo is nobody's address"
  const to = { asset: offer.asset as Address, payTo: offer.payTo as Address }
  return { ...offer, ...to, family: 'evm', domain: { name, version } }
}

const isWord = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_WORD

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

/** Its nonce is random, and no other payment has it. */
export function createPayment(
  { version, resource, extensions, offer, token, payer }: NewPayment<EvmOffer>,
  nowSeconds: number,
): EvmPayment {
  const { chainId, asset, amount, payTo, seconds, domain, accepted } = offer
  return {
    ...{ family: 'evm', version, chainId, asset, symbol: token.symbol, decimals: token.decimals, domain },
    authorization: {
      ...{ from: payer as Address, to: payTo, value: `${amount}`, validAfter: '0' },
      validBefore: `${nowSeconds + seconds}`,
      nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
    },
    repeats: { accepted, resource, extensions },
  }
}

function toTypedData({ domain, chainId, asset, authorization }: EvmPayment): TypedData {
  return {
    domain: { ...domain, chainId, verifyingContract: asset },
    types: { EIP712Domain: DOMAIN, TransferWithAuthorization: FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: { ...authorization },
  }
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

async function readToken(
  rpcUrl: string,
  { chainId, asset, domain }: EvmOffer,
  payer: string,
): Promise<X402Token | string> {
  try {
    const read = readerOf(rpcUrl, asset)
    const [actual, separator, held, decimals, symbol] = await Promise.all([
      callNode(rpcUrl, 'eth_chainId', []),
      read('DOMAIN_SEPARATOR', []),
      read('balanceOf', [payer]),
      read('decimals', []),
      read('symbol', []),
    ])
    if (Number(actual) !== chainId) return `its node belongs to chain ${Number(actual)}`
    const signed = domainSeparator({ domain: { ...domain, chainId, verifyingContract: asset } })
    if (separator !== signed) return `${asset} has another EIP-712 domain than the seller says`
    if (Number(decimals) > MAX_DECIMALS) return `${asset} has ${decimals} decimals`
    const name = plainText(String(symbol), MAX_SYMBOL).trim()
    return { held: held as bigint, decimals: Number(decimals), symbol: name }
  } catch {
    return `its node does not describe ${asset} as a token that takes EIP-3009 payments`
  }
}

/** The time of the chain, which judges the payment, or that of this machine, by which sellers judge it. */
async function readNow(rpcUrl: string): Promise<number> {
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
