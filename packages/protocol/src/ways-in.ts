import {
  type Address,
  concat,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  type Hex,
  hashStruct,
  keccak256,
  numberToHex,
  parseAbi,
  size,
  slice,
  zeroAddress,
} from 'viem'
import type { GeoOp, OriginEscrow } from './geo-op.ts'

/** EIP-3009: the escrow alone may use it, since it is the receiver. */
export const receiveTypes = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** EIP-3009, for any caller: what payers by HTTP 402 sign. */
export const transferTypes = {
  TransferWithAuthorization: receiveTypes.ReceiveWithAuthorization,
} as const

/** EIP-2612. */
export const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

/** The functions of a token by which a signature moves it, and by which its domain is checked. */
export const signedTokenAbi = /* @__PURE__ */ parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1, string name, string version, uint256, address, bytes32, uint256[])',
  'function nonces(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function receiveWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes signature)',
  'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes signature)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
])

/** ERC-1271: how a wallet with code accepts a signature. */
export const contractWalletAbi = /* @__PURE__ */ parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])
export const VALID_SIGNATURE: Hex = '0x1626ba7e'

type Paid = Pick<GeoOp, 'wallet' | 'inputAmount' | 'opDeadline'>

/** The authorization by which the escrow takes the input of an op: its nonce is the op's hash. */
export function authorizationOf({ escrow }: Pick<OriginEscrow, 'escrow'>, hash: Hex, op: Paid) {
  return {
    from: op.wallet,
    to: escrow,
    value: op.inputAmount,
    validAfter: 0n,
    // A token compares with "before", the escrow with "not after".
    validBefore: op.opDeadline + 1n,
    nonce: hash,
  }
}

/** The permit by which the op's own address takes the input: no other op can use it. */
export function permitOf(
  { escrow }: Pick<OriginEscrow, 'escrow'>,
  hash: Hex,
  { nonce, ...op }: Paid & { nonce: bigint },
) {
  return {
    owner: op.wallet,
    spender: depositAddressOf(escrow, hash),
    value: op.inputAmount,
    nonce,
    deadline: op.opDeadline,
  }
}

/** The terms that a payer chose beside those of the op, and signed. */
export type Payment = { validAfter: bigint; validBefore: bigint; nonce: Hex; signature: Hex }

/** The authorization that pays an op's address. */
export function paymentOf(
  { escrow }: Pick<OriginEscrow, 'escrow'>,
  hash: Hex,
  {
    wallet,
    inputAmount,
    validAfter,
    validBefore,
    nonce,
  }: Omit<Paid, 'opDeadline'> & Omit<Payment, 'signature'>,
) {
  const to = depositAddressOf(escrow, hash)
  return { from: wallet, to, value: inputAmount, validAfter, validBefore, nonce }
}

const WORD = 32

/** A payment as bytes: three words, then the signature. */
export function encodePayment({ validAfter, validBefore, nonce, signature }: Payment): Hex {
  const times = [validAfter, validBefore].map((time) => numberToHex(time, { size: WORD }))
  return concat([...times, nonce, signature])
}

/** Undefined if the bytes are no payment. */
export function decodePayment(bytes: Hex): Payment | undefined {
  if (size(bytes) <= 3 * WORD) return undefined
  const word = (at: number) => slice(bytes, at * WORD, (at + 1) * WORD)
  return {
    validAfter: BigInt(word(0)),
    validBefore: BigInt(word(1)),
    nonce: word(2),
    signature: slice(bytes, 3 * WORD),
  }
}

export type TokenDomain = { name: string; version: string; chainId: number; verifyingContract: Address }

/** A token's typed data as JSON, every number as text. */
export function toTokenTypedData(
  domain: TokenDomain,
  content:
    | { primaryType: 'ReceiveWithAuthorization'; message: ReturnType<typeof authorizationOf> }
    | { primaryType: 'Permit'; message: ReturnType<typeof permitOf> },
) {
  const { primaryType, message } = content
  const fields = primaryType === 'Permit' ? permitTypes.Permit : receiveTypes.ReceiveWithAuthorization
  const texts = Object.entries(message).map(([name, value]) => [name, String(value)])
  return {
    domain: { ...domain },
    types: { EIP712Domain: [...DOMAIN_FIELDS], [primaryType]: [...fields] },
    primaryType,
    message: Object.fromEntries(texts) as Record<string, string>,
  }
}

export const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const

/** The digest that the wallet signs, by the separator that the token itself reports. */
export function authorizationDigest(separator: Hex, message: ReturnType<typeof authorizationOf>): Hex {
  const struct = hashStruct({ types: receiveTypes, primaryType: 'ReceiveWithAuthorization', data: message })
  return keccak256(concat(['0x1901', separator, struct]))
}

export function paymentDigest(separator: Hex, message: ReturnType<typeof paymentOf>): Hex {
  const struct = hashStruct({ types: transferTypes, primaryType: 'TransferWithAuthorization', data: message })
  return keccak256(concat(['0x1901', separator, struct]))
}

export function permitDigest(separator: Hex, message: ReturnType<typeof permitOf>): Hex {
  const struct = hashStruct({ types: permitTypes, primaryType: 'Permit', data: message })
  return keccak256(concat(['0x1901', separator, struct]))
}

/** The address of an op: whatever lies there goes into the escrow for this op, or to its wallet. */
export function depositAddressOf(escrow: Address, hash: Hex): Address {
  return getContractAddress({ opcode: 'CREATE2', from: escrow, salt: hash, bytecode: opAddressCode(escrow) })
}

/** The call that sends an amount there: of a token, or of the native coin, whose token is the zero address. */
export function transferTo(to: Address, { token, amount }: { token: Address; amount: bigint }) {
  if (token === zeroAddress) return { to, data: '0x' as Hex, value: amount }
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
  return { to: token, data, value: 0n }
}

/** The init code of every op's address, as OpAddressLib.sol has it. */
function opAddressCode(escrow: Address): Hex {
  return concat(['0x60235f8160095f39f3365f5f375f5f365f73', escrow, '0x8033145a02f4'])
}
