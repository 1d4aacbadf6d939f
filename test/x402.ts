import { randomBytes } from 'node:crypto'
import { transferTypes } from '@geoswap/protocol'
import { type Address, encodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

// A payer by HTTP 402 that knows nothing of the service: it signs typed data.

export const X402_PATH = '/swap/x402'

export type Offer = {
  scheme: string
  network: string
  asset: Address
  amount: string
  payTo: Address
  extra: { name: string; version: string; operation: { message: { opDeadline: string } } }
}

/** The first way to pay that an answer offers. */
export function offerIn<Asked = Offer>(headers: Headers): Asked | undefined {
  const text = headers.get('payment-required')
  return text === null ? undefined : JSON.parse(Buffer.from(text, 'base64').toString()).accepts[0]
}

export const domainOf = ({ asset, network, extra: { name, version } }: Offer) => ({
  ...{ name, version, chainId: Number(network.split(':')[1]), verifyingContract: asset },
})

const VALID_SECONDS = 60

/** The header that pays an offer, with other terms if they are given; `call`: anybody shows it to the token by this. */
export async function signPayment(
  wallet: PrivateKeyAccount,
  offer: Offer,
  changed: { value?: string; validBefore?: string } = {},
): Promise<{ nonce: Hex; header: string; call: Hex }> {
  const { opDeadline } = offer.extra.operation.message
  const nonce = toHex(randomBytes(32))
  const authorization = {
    ...{ from: wallet.address, to: offer.payTo, value: offer.amount, nonce, validAfter: '0' },
    ...{ validBefore: String(Number(opDeadline) + VALID_SECONDS), ...changed },
  }
  const { value, validAfter, validBefore } = authorization
  const signature = await wallet.signTypedData({
    ...{ domain: domainOf(offer), types: transferTypes, primaryType: 'TransferWithAuthorization' },
    message: {
      ...authorization,
      ...{ value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
    },
  })
  const { from, to } = authorization
  const terms = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature] as const
  const call = encodeFunctionData({ abi: TRANSFER, functionName: 'transferWithAuthorization', args: terms })
  return { nonce, call, header: toPaymentHeader(offer, { signature, authorization }) }
}

const TRANSFER = parseAbi([
  'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)',
])

/** A payment of version 2. */
export const toPaymentHeader = (accepted: object, payload: object): string =>
  Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload })).toString('base64')

type End = { chainId: number; token(symbol: string): string }
type Asked = { from: End; to: End; wallet: { address: string }; amount: bigint; recipient?: string }

/** Asks to swap USDC for USDC, to the payer itself unless another recipient is named. */
export function usdcUrl(
  apiUrl: string,
  { from, to, wallet, amount, recipient = wallet.address }: Asked,
): string {
  const query = new URLSearchParams({
    ...{ originChain: String(from.chainId), destinationChain: String(to.chainId) },
    ...{ inputToken: from.token('USDC'), outputToken: to.token('USDC') },
    ...{ amount: String(amount), recipient, wallet: wallet.address },
  })
  return `${apiUrl}${X402_PATH}?${query}`
}
