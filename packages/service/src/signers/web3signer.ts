import type { MessagePartialSigner } from '@solana/kit'
import { getAddress, type Hex, isHex } from 'viem'
import type { EvmSigner } from '../chains/evm/signer.ts'
import { createExchange, type Exchange, type Reply, SignerError } from './exchange.ts'
import { eth1, type Scheme, solana } from './schemes.ts'

type Web3Signer<Signed> = {
  sign(address: string, data: Hex): Promise<Signed>
  /** The addresses whose keys the server lists now. */
  readAddresses(): Promise<Set<string>>
}

type Options<Signed> = {
  /** The name of the server in messages. */
  name: string
  exchange: Exchange
  scheme: Pick<Scheme<Signed, unknown>, 'api' | 'addressOf' | 'findSignature'>
}

// See docs/decisions.md#remote-signers.
/** A server with an API in the form of Web3Signer's. Each signature is verified before anything uses it. */
function createWeb3Signer<Signed>({ name, exchange, scheme }: Options<Signed>): Web3Signer<Signed> {
  const failed = (fault: SignerError['fault'], text: string, cause?: unknown) =>
    new SignerError(fault, `The signer ${name} ${text}`, cause)
  let identifiers = new Map<string, string>()

  const ask = async (path: string, body?: object): Promise<Reply> => {
    const reply = await exchange(`/api/v1/${scheme.api}/${path}`, body).catch((error: unknown) => {
      throw failed('away', `does not answer: ${error instanceof Error ? error.message : error}`, error)
    })
    if (reply.status >= 500) throw failed('away', `answers with HTTP status ${reply.status}`)
    return reply
  }

  async function readKeys(): Promise<Map<string, string>> {
    const { status, text } = await ask('publicKeys')
    if (status !== 200) throw failed('refused', `lists no keys: HTTP status ${status}`)
    const keys = parseKeys(text, scheme)
    if (!keys) throw failed('refused', 'lists its keys in an unknown form')
    identifiers = keys
    return keys
  }

  async function sign(address: string, data: Hex): Promise<Signed> {
    const identifier = identifiers.get(address) ?? (await readKeys()).get(address)
    if (!identifier) throw failed('unknownKey', `does not hold the key of ${address}`)
    const { status, text } = await ask(`sign/${identifier}`, { data })
    if (status === 404) {
      identifiers.delete(address)
      throw failed('unknownKey', `does not hold the key of ${address} any more`)
    }
    if (status !== 200) throw failed('refused', `refuses to sign for ${address}: HTTP status ${status}`)
    const signature = await scheme.findSignature(data, text.trim(), address)
    if (!signature) throw failed('wrong', `answered with a signature that is not of ${address}`)
    return signature
  }

  return { sign, readAddresses: async () => new Set((await readKeys()).keys()) }
}

/** By address; undefined if the text is not a list of public keys. */
function parseKeys(
  text: string,
  { addressOf }: Pick<Scheme<unknown, unknown>, 'addressOf'>,
): Map<string, string> | undefined {
  try {
    const keys: unknown = JSON.parse(text)
    if (!Array.isArray(keys)) return undefined
    const found = new Map<string, string>()
    for (const key of keys) {
      const address = typeof key === 'string' ? addressOf(key) : undefined
      if (address === undefined) return undefined
      found.set(address, key)
    }
    return found
  } catch {
    return undefined
  }
}

type Server = { url: string; addresses: readonly string[]; timeoutMs?: number | undefined }

/** A remote signer that this process uses, as it last answered. */
export type SignerServer = {
  name: string
  evm: readonly EvmSigner[]
  solana: readonly MessagePartialSigner[]
  /** The reason why it does not sign for some address now, if any. */
  problem(): string | undefined
  /** The addresses for which it does not sign now. */
  silent(): readonly string[]
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

/** Connects to a server, for these of its addresses. Nothing is asked yet. */
export function openServer(
  server: Server,
  addresses: readonly string[],
  options: ServerOptions,
): SignerServer {
  const { url, timeoutMs = DEFAULT_TIMEOUT_MS } = server
  const { clientTls, assertOutsideTransaction, onAnswer } = options
  const name = new URL(url).host
  const exchange = createExchange({ url, timeoutMs, clientTls })
  // By address, and of each list of keys under its API.
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

  function openKeys<Signed, Signer>(scheme: Scheme<Signed, Signer>, own: readonly string[]) {
    const { api, probe, toSigner } = scheme
    const web3signer = createWeb3Signer({ name, exchange, scheme })

    async function check(): Promise<void> {
      if (own.length === 0) return
      const held = await noting(api, web3signer.readAddresses())
      const missing = own.filter((address) => !held.has(address))
      if (missing.length > 0)
        await noting(
          api,
          Promise.reject(new SignerError('unknownKey', `The signer ${name} lacks ${missing}`)),
        )
      const doubtful = own.filter((address) => !proven.has(address) || problems.has(address))
      await Promise.all(doubtful.map((address) => noting(address, web3signer.sign(address, probe))))
    }

    return {
      check,
      signers: own.map((address) =>
        toSigner(address, (data) => {
          assertOutsideTransaction()
          return noting(address, web3signer.sign(address, data))
        }),
      ),
      silent: () => own.filter((address) => problems.has(api) || problems.has(address)),
    }
  }

  const ofEvm = openKeys(eth1, addresses.filter(isEvm))
  const ofSolana = openKeys(
    solana,
    addresses.filter((address) => !isEvm(address)),
  )
  return {
    name,
    evm: ofEvm.signers,
    solana: ofSolana.signers,
    problem: () => [...problems.values()][0],
    silent: () => [...ofEvm.silent(), ...ofSolana.silent()],
    check: async () =>
      void (await Promise.all([ofEvm, ofSolana].map(({ check }) => check().catch(unlessAway)))),
  }
}

const isEvm = (address: string) => isHex(address)

/** A signer that is away is asked again; one that lacks a key or signs wrongly is set up wrongly. */
function unlessAway(error: unknown): void {
  if (!(error instanceof SignerError) || error.fault !== 'away') throw error
}

/** The addresses of a server that a process signs for. */
export function addressesFor({ addresses }: Server, wanted: readonly string[]): string[] {
  return addresses
    .map((address) => (isEvm(address) ? getAddress(address) : address))
    .filter((address) => wanted.includes(address))
}
