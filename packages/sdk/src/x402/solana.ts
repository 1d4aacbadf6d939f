import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '@geoswap/solana-escrow'
import { toCaip2 } from '@geoswap/wire/caip'
import { isAddress, isOffCurveAddress } from '@solana/kit'
import { callNode } from '../checks/deployment.ts'
import { SwapRefusedError } from '../errors.ts'
import { nowSeconds } from '../retry.ts'
import type {
  AnyOffer,
  Fields,
  NewPayment,
  PaymentFamily,
  SolanaOffer,
  SolanaPayment,
  X402Payer,
  X402Token,
} from './family.ts'
import { readUse } from './solana-use.ts'
import { accountsOf, fromBase64, signatureIn, toBase64, toMessage, toTransaction } from './transaction.ts'

/** Solana: the payer signs one transfer, and the seller's fee payer signs and sends it. */
export const solana: PaymentFamily = {
  parseAddress: (text) => (isAddress(text) ? text : undefined),
  canSign: (payer) => 'signTransaction' in payer,
  readOffer,
  readToken,
  create: createPayment,
  sign,
  async toPayload(payment: SolanaPayment) {
    return { transaction: toTransaction(await toMessage(payment), fromBase64(payment.signature ?? '')) }
  },
  termsOf({ transfer: { payer, payTo, amount, memo }, life: { until } }: SolanaPayment) {
    return { payer, payTo, amount, nonce: memo, until }
  },
  readUse,
}

const MAX_AMOUNT = 2n ** 64n - 1n
// As public clients.
const MAX_MEMO_BYTES = 256
const TOKEN_PROGRAMS: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]

function readOffer(offer: AnyOffer, { feePayer, memo = '' }: Fields): SolanaOffer | string {
  if (offer.amount > MAX_AMOUNT) return 'the amount is more than there can be of a token'
  if (offer.payTo === SYSTEM_PROGRAM) return "payTo is nobody's address"
  // Nobody could sign for it.
  if (typeof feePayer !== 'string' || !isAddress(feePayer) || isOffCurveAddress(feePayer))
    return 'extra.feePayer is no address that can sign'
  if (typeof memo !== 'string' || new TextEncoder().encode(memo).length > MAX_MEMO_BYTES)
    return `extra.memo is no text of at most ${MAX_MEMO_BYTES} bytes`
  return { ...offer, family: 'solana', feePayer, memo }
}

const MAX_DECIMALS = 77
const PARSED = { commitment: 'confirmed', encoding: 'jsonParsed' }

type Account = { owner: string; executable: boolean; data: unknown } | null
type Parsed = { type?: unknown; info?: Fields }

async function readToken(
  rpcUrl: string,
  { chainId, asset, payTo, feePayer }: SolanaOffer,
  payer: string,
): Promise<X402Token | string> {
  if (feePayer === payer) return 'extra.feePayer is the payer, who pays the price and nothing else'
  try {
    const genesis = await callNode(rpcUrl, 'getGenesisHash', [])
    if (!isServing(chainId, genesis)) return 'its node belongs to another chain'
    const [mint, payee] = await readAccounts(rpcUrl, [asset, payTo])
    const { type, info } = parsedOf(mint)
    if (!mint || !TOKEN_PROGRAMS.includes(mint.owner) || type !== 'mint' || info?.['isInitialized'] !== true)
      return `${asset} is no token`
    const decimals = Number(info['decimals'])
    if (!(decimals >= 0 && decimals <= MAX_DECIMALS)) return `${asset} has ${decimals} decimals`
    if (payee && (payee.executable || TOKEN_PROGRAMS.includes(payee.owner)))
      return 'payTo is a token account or a program, and nobody could spend what it owns'
    const program = mint.owner
    const accounts = await accountsOf(asset, { payer, payTo, feePayer, program })
    const [, , source = ''] = accounts
    if (new Set(accounts).size < accounts.length) return 'extra.feePayer is an account of the transfer itself'
    const [account] = await readAccounts(rpcUrl, [source])
    const held = heldIn(account, { asset, payer, program })
    return typeof held === 'string' ? held : { symbol: '', decimals, held, program }
  } catch {
    return `its node does not describe ${asset}`
  }
}

/** Public chains are named by their genesis; of others only the caller knows which node is theirs. */
function isServing(chainId: number, genesis: unknown): boolean {
  const [, reference = ''] = toCaip2({ chainId, family: 'solana' }).split(':')
  return typeof genesis === 'string' && (reference === `${chainId}` || genesis.startsWith(reference))
}

async function readAccounts(rpcUrl: string, addresses: readonly string[]): Promise<Account[]> {
  const { value } = (await callNode(rpcUrl, 'getMultipleAccounts', [addresses, PARSED])) as {
    value: Account[]
  }
  return value
}

function parsedOf(account: Account | undefined): Parsed {
  const { parsed } = (account?.data ?? {}) as { parsed?: Parsed }
  return parsed ?? {}
}

type Held = { asset: string; payer: string; program: string }

function heldIn(account: Account | undefined, { asset, payer, program }: Held): bigint | string {
  if (!account) return 0n
  const { type, info = {} } = parsedOf(account)
  if (account.owner !== program || type !== 'account') return 0n
  if (info['mint'] !== asset || info['owner'] !== payer)
    return "the payer's token account belongs to somebody else"
  if (info['state'] !== 'initialized') return "the payer's token account is frozen"
  const { amount } = info['tokenAmount'] as { amount: string }
  return BigInt(amount)
}

// 150 blocks at most, with room for skipped slots. Only the height of the chain decides.
const BLOCKHASH_SECONDS = 150
const NONCE_BYTES = 16
const MAX_PRICE = 1_000

async function createPayment(
  rpcUrl: string,
  { version, resource, extensions, offer, token, payer }: NewPayment<SolanaOffer>,
): Promise<SolanaPayment> {
  const { chainId, asset, amount, payTo, feePayer, memo, accepted } = offer
  const { symbol, decimals, program = '' } = token
  const asked = [{ commitment: 'finalized' }]
  const { context, value } = (await callNode(rpcUrl, 'getLatestBlockhash', asked)) as LatestBlockhash
  const [first = 0, second = 0, ...random] = crypto.getRandomValues(new Uint8Array(NONCE_BYTES + 2))
  const nonce = random.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  // With a memo of the seller two payments could be the same transaction, and one of them lost.
  const microLamports = memo === '' ? 1 : 1 + ((first * 256 + second) % MAX_PRICE)
  return {
    ...{ family: 'solana', version, chainId, asset, symbol, decimals },
    transfer: {
      ...{ payer, payTo, amount: `${amount}`, program, feePayer, memo: memo || nonce, microLamports },
      blockhash: value.blockhash,
    },
    life: {
      slot: context.slot,
      lastValidBlockHeight: value.lastValidBlockHeight,
      until: nowSeconds() + BLOCKHASH_SECONDS,
    },
    repeats: { accepted, resource, extensions },
  }
}

type LatestBlockhash = {
  context: { slot: number }
  value: { blockhash: string; lastValidBlockHeight: number }
}

/** A wallet that signs anything else than this message has signed nothing that is sent. */
async function sign(payment: SolanaPayment, payer: X402Payer): Promise<string> {
  if (!('signTransaction' in payer)) throw new TypeError('The payer signs no transactions')
  const message = await toMessage(payment)
  const signature = signatureIn(await payer.signTransaction(toTransaction(message, undefined)), message)
  if (signature) return toBase64(signature)
  throw new SwapRefusedError('SIGNER', 'The wallet did not sign the transaction that it was asked for.')
}
