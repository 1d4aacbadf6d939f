import {
  type Address,
  concat,
  getAddress,
  getTypesForEIP712Domain,
  type Hex,
  hashDomain,
  hashStruct,
  type Signature,
  serializeSignature,
  serializeTransaction,
  stringToHex,
  type TypedDataDefinition,
} from 'viem'
import type { EvmSigner } from '../chains/evm/signer.ts'
import { createExchange, SignerError } from './exchange.ts'
import { createWeb3Signer } from './web3signer.ts'

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

type Options = {
  clientTls: string | undefined
  assertOutsideTransaction(): void
  /** Called after each answer, with the error if there is no usable one. */
  onAnswer(name: string, error?: SignerError): void
}

const DEFAULT_TIMEOUT_MS = 3_000
// A message of EIP-191: neither a transaction nor an attestation.
const PROBE = stringToHex('\x19Ethereum Signed Message:\n13geoswap check')

/** Connects to a server, for these of its addresses. Nothing is asked yet. */
export function openServer(server: Server, addresses: readonly Address[], options: Options): SignerServer {
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
