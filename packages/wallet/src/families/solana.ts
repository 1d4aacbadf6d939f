import { fromKitSigner } from '@geoswap/sdk'
import { families } from '@geoswap/sdk/families'
import {
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
} from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { badKey } from '../errors.ts'
import {
  readSolanaEscrow,
  readSolanaGas,
  readSolanaOperation,
  sendSolanaRefund,
} from '../refund/solana-escrow.ts'
import type { Input, Key, Reads, WalletFamily } from './family.ts'

export const solana: WalletFamily = {
  name: 'solana',
  coin: { name: 'SOL', decimals: 9 },
  parseAddress: families.solana.parseAddress,
  async parseKey(text) {
    const pair = readPair(text)
    if (pair?.length !== 64) return undefined
    const secret = pair.slice(0, 32)
    const isOwn = Buffer.from(await publicKeyOf(secret)).equals(Buffer.from(pair.slice(32)))
    return isOwn ? secret : undefined
  },
  async formatKey(secret) {
    return getBase58Decoder().decode(Uint8Array.of(...secret, ...(await publicKeyOf(secret))))
  },
  signer: async (secret) => fromKitSigner(await createKeyPairSignerFromPrivateKeyBytes(secret)),
  createReads: (_chain, rpcUrl) => createSolanaReads(rpcUrl),
  readInput: (operation) => (isSolana(operation) ? toInput(operation) : undefined),
}

/** Only operations of Solana name a program. */
function isSolana(operation: unknown): boolean {
  return typeof operation === 'object' && operation !== null && 'program' in operation
}

async function publicKeyOf(secret: Uint8Array) {
  return getAddressEncoder().encode((await createKeyPairSignerFromPrivateKeyBytes(secret)).address)
}

/** Base58 of 64 bytes, or the 64 numbers that solana-keygen writes. */
function readPair(text: string): Uint8Array | undefined {
  try {
    if (!text.startsWith('[')) return Uint8Array.from(getBase58Encoder().encode(text))
    const numbers: unknown = JSON.parse(text)
    const isBytes =
      Array.isArray(numbers) && numbers.every((each) => Number.isInteger(each) && each >= 0 && each < 256)
    return isBytes ? Uint8Array.from(numbers) : undefined
  } catch {
    return undefined
  }
}

function assertOwn(key: Key): Key {
  if (key.family === solana.name) return key
  throw badKey('This has to be a key of a Solana wallet.')
}

function toInput(operation: unknown): Input {
  const op = readSolanaOperation(operation)
  const { chainId, terms, token, amount } = op
  const { opId: hash, wallet, refundDeadline } = terms
  return {
    family: solana.name,
    chainId,
    hash,
    wallet,
    token: token.mint,
    amount,
    refundDeadline,
    read: (rpcUrl) => readSolanaEscrow(rpcUrl, op),
    readGas: (rpcUrl, payer) => readSolanaGas(rpcUrl, assertOwn(payer)),
    async refund(rpcUrl, { payer, onSent }) {
      return { ...(await sendSolanaRefund(rpcUrl, { op, key: assertOwn(payer), onSent })), credited: false }
    },
  }
}

const NATIVE = '11111111111111111111111111111111'
const SOL_DECIMALS = 9
const AS_JSON = { commitment: 'confirmed', encoding: 'jsonParsed' } as const

function createSolanaReads(rpcUrl: string): Reads {
  const rpc = createSolanaRpc(rpcUrl)

  /** The mint's program and its decimals. */
  async function readMint(mint: string) {
    const { value } = await rpc.getAccountInfo(address(mint), AS_JSON).send()
    const decimals = value && Number(readInfo(value.data)?.['decimals'])
    if (!value || !Number.isInteger(decimals)) throw new Error(`${mint} is not a mint`)
    return { program: value.owner, decimals: decimals as number }
  }

  return {
    async balanceOf(ownerText, token) {
      const owner = address(ownerText)
      if (token === NATIVE) return (await rpc.getBalance(owner, { commitment: 'confirmed' }).send()).value
      const { program: tokenProgram } = await readMint(token)
      const [account] = await findAssociatedTokenPda({ owner, mint: address(token), tokenProgram })
      const { value } = await rpc.getAccountInfo(account, AS_JSON).send()
      return value ? BigInt(readTokenAmount(value.data)) : 0n
    },
    async decimalsOf(token) {
      return token === NATIVE ? SOL_DECIMALS : (await readMint(token)).decimals
    },
    symbolOf: async () => undefined,
  }
}

function readTokenAmount(data: unknown): string {
  const { amount } = (readInfo(data)?.['tokenAmount'] ?? {}) as { amount?: string }
  if (amount === undefined) throw new Error("The wallet's token account holds something else")
  return amount
}

function readInfo(data: unknown): Record<string, unknown> | undefined {
  const { parsed } = data as { parsed?: { info?: Record<string, unknown> } }
  return parsed?.info
}
