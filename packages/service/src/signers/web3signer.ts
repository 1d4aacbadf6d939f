import {
  type Address,
  concat,
  getAddress,
  getTypesForEIP712Domain,
  type Hex,
  hashDomain,
  hashStruct,
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
import { createExchange, type Exchange, type Reply, SignerError } from './exchange.ts'

type Web3Signer = {
  /** Signs the Keccak-256 hash of `data`, which the server computes. */
  sign(address: Address, data: Hex): Promise<Signature>
  /** The addresses whose keys the server lists now. */
  readAddresses(): Promise<Set<Address>>
}

type Options = {
  /** The name of the server in messages. */
  name: string
  exchange: Exchange
}

const KEYS = '/api/v1/eth1/publicKeys'
// Web3Signer names a key by the two coordinates of its public key.
const PUBLIC_KEY = /^0x(04)?[0-9a-fA-F]{128}$/

// See docs/decisions.md#remote-signers.
/** A server with the eth1 API of Web3Signer. Each signature is verified before anything uses it. */
function createWeb3Signer({ name, exchange }: Options): Web3Signer {
  const failed = (fault: SignerError['fault'], text: string, cause?: unknown) =>
    new SignerError(fault, `The signer ${name} ${text}`, cause)
  let identifiers = new Map<Address, string>()

  const ask = async (path: string, body?: object): Promise<Reply> => {
    const reply = await exchange(path, body).catch((error: unknown) => {
      throw failed('away', `does not answer: ${error instanceof Error ? error.message : error}`, error)
    })
    if (reply.status >= 500) throw failed('away', `answers with HTTP status ${reply.status}`)
    return reply
  }

  async function readKeys(): Promise<Map<Address, string>> {
    const { status, text } = await ask(KEYS)
    if (status !== 200) throw failed('refused', `lists no keys: HTTP status ${status}`)
    const keys = parseKeys(text)
    if (!keys) throw failed('refused', 'lists its keys in an unknown form')
    identifiers = keys
    return keys
  }

  async function sign(address: Address, data: Hex): Promise<Signature> {
    const identifier = identifiers.get(address) ?? (await readKeys()).get(address)
    if (!identifier) throw failed('unknownKey', `does not hold the key of ${address}`)
    const { status, text } = await ask(`/api/v1/eth1/sign/${identifier}`, { data })
    if (status === 404) {
      identifiers.delete(address)
      throw failed('unknownKey', `does not hold the key of ${address} any more`)
    }
    if (status !== 200) throw failed('refused', `refuses to sign for ${address}: HTTP status ${status}`)
    const signature = await findSignature(data, text.trim(), address)
    if (!signature) throw failed('wrong', `answered with a signature that is not of ${address}`)
    return signature
  }

  return { sign, readAddresses: async () => new Set((await readKeys()).keys()) }
}

/** Undefined if the text is not a list of public keys. */
function parseKeys(text: string): Map<Address, string> | undefined {
  try {
    const keys: unknown = JSON.parse(text)
    if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string' && PUBLIC_KEY.test(key)))
      return undefined
    return new Map(keys.map((key: Hex) => [getAddress(publicKeyToAddress(toUncompressed(key))), key]))
  } catch {
    return undefined
  }
}

const toUncompressed = (key: Hex): Hex => (key.length === 132 ? key : `0x04${key.slice(2)}`)

// The order of the group of secp256k1.
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const R_AND_S = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})/

/**
 * The signature of `data` by this address, with the lower `s` and the matching parity; undefined if the bytes are no
 * such signature. The signer's own `v` is not needed: the parity is the one that leads to the address.
 */
async function findSignature(data: Hex, bytes: string, address: Address): Promise<Signature | undefined> {
  const [, r, s] = R_AND_S.exec(bytes) ?? []
  if (!r || !s) return undefined
  const hash = keccak256(data)
  const low = lowerOf(BigInt(`0x${s}`))
  for (const yParity of [0, 1]) {
    const signature = { r: `0x${r}` as Hex, s: toHex(low, { size: 32 }), yParity }
    const signer = await recoverAddress({ hash, signature }).catch(() => undefined)
    if (signer && isAddressEqual(signer, address)) return signature
  }
  return undefined
}

/** Chains accept only the lower of the two values that sign the same. */
function lowerOf(s: bigint): bigint {
  return s > ORDER / 2n ? ORDER - s : s
}

type Server = { url: string; addresses: readonly string[]; timeoutMs?: number | undefined }

/** A remote signer that this process uses, as it last answered. */
export type SignerServer = {
  name: string
  signers: readonly EvmSigner[]
  /** The reason why it does not sign for some address now, if any. */
  problem(): string | undefined
  /** The addresses for which it does not sign now. */
  silent(): readonly Address[]
  /** Asks for its keys, and lets those sign that never did or failed last. Throws only if it lacks a key. */
  check(): Promise<void>
}

type ServerOptions = {
  clientTls: string | undefined
  assertOutsideTransaction(): void
  /** Called after each answer, with the error if there is no usable one. */
  onAnswer(name: string, error?: SignerError): void
}

const DEFAULT_TIMEOUT_MS = 3_000
// A message of EIP-191: neither a transaction nor an attestation.
const PROBE = stringToHex('\x19Ethereum Signed Message:\n13geoswap check')

/** Connects to a server, for these of its addresses. Nothing is asked yet. */
export function openServer(
  server: Server,
  addresses: readonly Address[],
  options: ServerOptions,
): SignerServer {
  const { url, timeoutMs = DEFAULT_TIMEOUT_MS } = server
  const { clientTls, assertOutsideTransaction, onAnswer } = options
  const name = new URL(url).host
  const web3signer = createWeb3Signer({ name, exchange: createExchange({ url, timeoutMs, clientTls }) })
  // By address, and of the list of keys under the name of the server.
  const problems = new Map<string, string>()
  const proven = new Set<string>()

  async function noting<T>(about: string, answer: Promise<T>): Promise<T> {
    try {
      const value = await answer
      problems.delete(about)
      proven.add(about)
      onAnswer(name)
      return value
    } catch (error) {
      if (error instanceof SignerError) {
        problems.set(about, error.message)
        onAnswer(name, error)
      }
      throw error
    }
  }

  async function check(): Promise<void> {
    const held = await noting(name, web3signer.readAddresses())
    const missing = addresses.filter((address) => !held.has(address))
    if (missing.length > 0)
      await noting(name, Promise.reject(new SignerError('unknownKey', `The signer ${name} lacks ${missing}`)))
    const doubtful = addresses.filter((address) => !proven.has(address) || problems.has(address))
    await Promise.all(doubtful.map((address) => noting(address, web3signer.sign(address, PROBE))))
  }

  return {
    name,
    signers: addresses.map((address) =>
      createRemoteSigner(address, (data) => {
        assertOutsideTransaction()
        return noting(address, web3signer.sign(address, data))
      }),
    ),
    problem: () => [...problems.values()][0],
    silent: () => addresses.filter((address) => problems.has(name) || problems.has(address)),
    check: () => check().catch(unlessAway),
  }
}

/** A signer that is away is asked again; one that lacks a key or signs wrongly is set up wrongly. */
function unlessAway(error: unknown): void {
  if (!(error instanceof SignerError) || error.fault !== 'away') throw error
}

/** The addresses of a server that a process signs for. */
export function addressesFor({ addresses }: Server, wanted: readonly string[]): Address[] {
  return addresses.map((address) => getAddress(address)).filter((address) => wanted.includes(address))
}

/** Signs the Keccak-256 hash of these bytes. */
type SignBytes = (data: Hex) => Promise<Signature>

/** A signer whose key is elsewhere: encodes here, so that only bytes and a signature are exchanged. */
function createRemoteSigner(address: Address, sign: SignBytes): EvmSigner {
  return {
    address,
    async signTransaction(transaction) {
      return serializeTransaction(transaction, await sign(serializeTransaction(transaction)))
    },
    async signTypedData(typed) {
      return serializeSignature(await sign(toPreimage(typed)))
    },
  }
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
