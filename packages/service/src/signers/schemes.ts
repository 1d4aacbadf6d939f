import {
  address,
  assertIsSignatureBytes,
  getPublicKeyFromAddress,
  isAddress,
  type MessagePartialSigner,
  type SignatureBytes,
  type Address as SolanaAddress,
  verifySignature,
} from '@solana/kit'
import {
  type Address,
  bytesToHex,
  concat,
  getAddress,
  getTypesForEIP712Domain,
  type Hex,
  hashDomain,
  hashStruct,
  hexToBytes,
  isAddressEqual,
  keccak256,
  recoverAddress,
  type Signature,
  serializeSignature,
  serializeTransaction,
  stringToHex,
  type TypedDataDefinition,
  toHex,
} from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import type { EvmSigner } from '../chains/evm/signer.ts'
import { SIGNER_API } from '../chains/solana/signing.ts'

/** How the keys of one family sign at a server. */
export type Scheme<Signed, Signer> = {
  /** Its part of the server's paths. */
  api: string
  /** The address of a listed key; undefined if it is no key. May throw. */
  addressOf(key: string): string | undefined
  /** The signature of `data` by this address; undefined if the text is no such signature. */
  findSignature(data: Hex, text: string, address: string): Promise<Signed | undefined>
  /** Neither a transaction nor an attestation. */
  probe: Hex
  /** Encodes here, so that only bytes and a signature are exchanged. */
  toSigner(address: string, sign: (data: Hex) => Promise<Signed>): Signer
}

// Web3Signer names a key by the two coordinates of its public key.
const PUBLIC_KEY = /^0x(04)?[0-9a-fA-F]{128}$/

const toUncompressed = (key: Hex): Hex => (key.length === 132 ? key : `0x04${key.slice(2)}`)

/** As Web3Signer has it: the server signs the Keccak-256 hash of the data, which it computes. */
export const eth1: Scheme<Signature, EvmSigner> = {
  api: 'eth1',
  addressOf: (key) =>
    PUBLIC_KEY.test(key) ? getAddress(publicKeyToAddress(toUncompressed(key as Hex))) : undefined,
  findSignature: findRecoverable,
  // A message of EIP-191.
  probe: stringToHex('\x19Ethereum Signed Message:\n13geoswap check'),
  toSigner: (address, sign) => ({
    address: address as Address,
    async signTransaction(transaction) {
      return serializeTransaction(transaction, await sign(serializeTransaction(transaction)))
    },
    async signTypedData(typed) {
      return serializeSignature(await sign(toPreimage(typed)))
    },
  }),
}

const ED25519 = /^0x[0-9a-fA-F]{128}$/

/** In the same form for Ed25519: keys are listed by their address, and the server signs the data itself. */
export const solana: Scheme<SignatureBytes, MessagePartialSigner> = {
  api: SIGNER_API,
  addressOf: (key) => (isAddress(key) ? key : undefined),
  findSignature: findVerified,
  // A message off the chain: no transaction begins with this byte.
  probe: concat(['0xff', stringToHex('solana offchain\0geoswap check')]),
  toSigner(text, sign) {
    const own = address(text)
    const signOne = async (content: Uint8Array) => ({ [own]: await sign(bytesToHex(content)) })
    return {
      address: own,
      signMessages: (messages) => Promise.all(messages.map(({ content }) => signOne(content))),
    }
  },
}

// The order of the group of secp256k1.
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const R_AND_S = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})/

/** With the lower `s`. The signer's own `v` is not needed: the parity is the one that leads to the address. */
async function findRecoverable(data: Hex, text: string, address: string): Promise<Signature | undefined> {
  const [, r, s] = R_AND_S.exec(text) ?? []
  if (!r || !s) return undefined
  const hash = keccak256(data)
  const low = lowerOf(BigInt(`0x${s}`))
  for (const yParity of [0, 1]) {
    const signature = { r: `0x${r}` as Hex, s: toHex(low, { size: 32 }), yParity }
    const signer = await recoverAddress({ hash, signature }).catch(() => undefined)
    if (signer && isAddressEqual(signer, address as Address)) return signature
  }
  return undefined
}

/** Chains accept only the lower of the two values that sign the same. */
function lowerOf(s: bigint): bigint {
  return s > ORDER / 2n ? ORDER - s : s
}

async function findVerified(data: Hex, text: string, address: string): Promise<SignatureBytes | undefined> {
  if (!ED25519.test(text)) return undefined
  const signature: Uint8Array = hexToBytes(text as Hex)
  assertIsSignatureBytes(signature)
  const key = await getPublicKeyFromAddress(address as SolanaAddress)
  return (await verifySignature(key, signature, hexToBytes(data))) ? signature : undefined
}

type Fields = Record<string, { name: string; type: string }[]>

/** The bytes whose hash is the EIP-712 hash. */
function toPreimage(typed: TypedDataDefinition): Hex {
  const { domain = {}, message, primaryType } = typed
  // The type of viem names each primitive as a type that cannot be defined.
  const own: object = typed.types
  const types: Fields = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...own }
  const struct = hashStruct({ data: message as Record<string, unknown>, primaryType, types })
  return concat(['0x1901', hashDomain({ domain, types }), struct])
}
