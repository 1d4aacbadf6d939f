import { setTimeout as delay } from 'node:timers/promises'
import { ASSOCIATED_TOKEN_PROGRAM, createAccountInstruction, findAuthority } from '@geoswap/solana-escrow'
import { type Address, type Blockhash, getBase58Decoder } from '@solana/kit'
import type { InputRequest, LockRef, PaidInput, PaymentOffer } from '../chain.ts'
import { readAccounts, toTokenAccount, toTokenAccountAddress } from './accounts.ts'
import { fromBase64, toBase64, toOpId } from './bytes.ts'
import { termsOf, toProgramToken } from './facts.ts'
import { accountUnits, inputBoundLamports, OPEN_UNITS } from './fees.ts'
import { AHEAD_BLOCKS, LIFE_BLOCKS, type Lifetime, type SolanaBlock } from './heads.ts'
import { type InputTerms, inputInstructions, isPaidInput, readInputWire } from './input.ts'
import {
  budgetInstructions,
  compile,
  joinWire,
  type ReadMessage,
  readMessage,
  SIGNATURE_BYTES,
  splitWire,
} from './message.ts'
import type { SolanaParts } from './parts.ts'
import { type SolanaSigner, signMessage } from './settings.ts'
import { costOf, isSignedBy, type SignedTransaction } from './signed-input.ts'
import type { TransferTerms } from './transfer.ts'

/**
 * A payment of a request (x402, scheme exact): the wallet's own transaction sends the input to the op's account, which
 * has to exist. No offer creates it. The service does once the payment is checked, by a transaction of its own that
 * lands first; both are recorded before either is sent.
 */
export async function offerPayment(
  { settings, facts }: SolanaParts,
  { opHash, wallet, amount, locker: feePayer, token, refundDeadline }: InputRequest,
  { blockhash, lastValidBlockHeight }: Lifetime,
): Promise<PaymentOffer> {
  const { program, vault, attester, chainId } = settings
  const op = { hash: opHash, wallet, locker: feePayer, refundDeadline, inputAmount: amount }
  const [payTo] = await findAuthority(program as Address, termsOf(settings, op))
  const { program: tokenProgram } = await facts.tokenOf(token)
  const destination = await toTokenAccountAddress({ owner: payTo, mint: token, program: tokenProgram })
  const opId = toOpId(opHash)
  const terms = { chainId, feePayer, wallet, opId, refundDeadline, token, tokenProgram, destination }
  return {
    payTo,
    feePayer,
    memo: `${opId} ${refundDeadline}`,
    recentBlockhash: blockhash,
    lastValidBlockHeight: lastValidBlockHeight.toString(),
    operation: { ...terms, amount: amount.toString(), program, vault, attester },
  }
}

// A transfer with its memo needs more in no token program. The clients allow 20,000.
const LEAST_UNITS = 10_000

/**
 * A stranger's transaction, if it is a payment that its wallet signed. Its blockhash is of any age: one that nodes know
 * now expires at the latest after a whole life from now.
 */
export async function readPaidInput(
  { client, settings, facts }: SolanaParts,
  transaction: string,
): Promise<PaidInput | undefined> {
  const read = await readInputWire(settings, transaction)
  const message = read && readMessage(read.message)
  const [, signature] = read?.signatures ?? []
  if (!read || !message || !signature || !isPaidInput(message)) return undefined
  const { terms } = read
  if (!settings.tokens.includes(terms.token)) return undefined
  const [token, rent] = await Promise.all([facts.tokenOf(terms.token), facts.rent()])
  if (terms.tokenProgram !== token.program || terms.decimals !== token.decimals) return undefined
  const isDear = costOf(terms, rent) > inputBoundLamports(rent, settings.priorityPrice.cap)
  if (terms.computeUnits < LEAST_UNITS || isDear) return undefined
  if (!(await isSignedBy(terms.wallet, signature, read.message))) return undefined
  const { context, value: isAlive } = await client.rpc
    .isBlockhashValid(terms.blockhash as Blockhash, { commitment: 'confirmed' })
    .send()
  const at = { commitment: 'confirmed', minContextSlot: context.slot } as const
  const height = await client.rpc.getBlockHeight(at).send()
  return {
    opHash: `0x${terms.opId}`,
    wallet: terms.wallet,
    locker: terms.feePayer,
    inputToken: terms.token,
    inputAmount: terms.amount,
    refundDeadline: terms.refundDeadline,
    signedTransaction: toBase64(joinWire([new Uint8Array(SIGNATURE_BYTES), signature], read.message)),
    lastValid: height + LIFE_BLOCKS + AHEAD_BLOCKS,
    isOver: !isAlive,
  }
}

/**
 * Whether a payment has expired whose blockhash nodes knew when it was read: a node that has come as far as they had
 * knows it no more.
 */
export async function isPaymentOver(
  { client, settings }: Pick<SolanaParts, 'client' | 'settings'>,
  transaction: string,
  lastValid: bigint,
): Promise<boolean> {
  const { terms } = (await readInputWire(settings, transaction)) ?? {}
  const at = await client.rpc.getEpochInfo({ commitment: 'confirmed' }).send()
  if (!terms || at.blockHeight + LIFE_BLOCKS + AHEAD_BLOCKS < lastValid) return false
  const reached = { commitment: 'confirmed', minContextSlot: at.absoluteSlot } as const
  const { value: isAlive } = await client.rpc.isBlockhashValid(terms.blockhash as Blockhash, reached).send()
  return !isAlive
}

/**
 * The payment as one transaction with its account, to be simulated while that does not exist: its transfer as the payer
 * wrote it.
 */
export async function withAccount(parts: SolanaParts, terms: InputTerms): Promise<string> {
  const { settings } = parts
  const account = await accountOf(parts, terms)
  const { wallet, amount, feePayer, refundDeadline, blockhash, decimals } = terms
  const token = { mint: terms.token, program: terms.tokenProgram, decimals }
  const input = { opHash: `0x${terms.opId}`, wallet, token, amount, feePayer, refundDeadline }
  const [memo, , transfer] = await inputInstructions(settings, input)
  if (!memo || !transfer) throw new Error('An input has a memo and a transfer')
  const units = terms.computeUnits + account.units
  const budget = budgetInstructions({ units, microLamportsPerUnit: terms.microLamportsPerUnit })
  const instructions = [...budget, account.create, transfer, memo]
  return toBase64(compile({ feePayer, lifetime: { blockhash, lastValidBlockHeight: 0n }, instructions }))
}

/** Creates the account unless anyone did. */
async function accountOf({ settings, facts }: SolanaParts, terms: InputTerms) {
  const { wallet, amount: inputAmount, feePayer: locker, refundDeadline } = terms
  const op = { hash: `0x${terms.opId}`, wallet, locker, refundDeadline, inputAmount }
  const [owner] = await findAuthority(settings.program as Address, termsOf(settings, op))
  const token = toProgramToken(await facts.tokenOf(terms.token))
  const create = await createAccountInstruction({ payer: locker as Address, owner, token })
  return { create, units: OPEN_UNITS + (await accountUnits(owner, token)) }
}

/** The creation of the account, and after it the payment: `raw` has both. The payment's id is that of the lock. */
export async function joinPayment(
  parts: SolanaParts,
  feePayer: SolanaSigner,
  paid: SignedTransaction,
  { lifetime, microLamportsPerUnit }: TransferTerms,
): Promise<SignedTransaction> {
  const read = await readInputWire(parts.settings, paid.raw)
  if (!read) throw new TypeError('Not a payment')
  const { create, units } = await accountOf(parts, read.terms)
  const instructions = [...budgetInstructions({ units, microLamportsPerUnit }), create]
  const wire = compile({ feePayer: feePayer.address, lifetime, instructions })
  const message = splitWire(wire, { count: 1 })?.message
  if (!message) throw new Error('An account is created by its fee payer alone')
  const signature = await signMessage(feePayer, message)
  return { raw: `${toBase64(joinWire([signature], message))} ${paid.raw}`, txHash: paid.txHash }
}

/** The account that a transaction created for a payment; undefined for any other. */
export function readOpened({ signers, instructions }: Pick<ReadMessage, 'signers' | 'instructions'>) {
  const [, , create, ...others] = instructions
  const [payer, account] = create?.accounts ?? []
  const isOne = create?.program === ASSOCIATED_TOKEN_PROGRAM && others.length === 0 && signers[0] === payer
  return isOne && payer !== undefined && account !== undefined ? { payer, account } : undefined
}

/** The parts of what a lock's attempt recorded; `creation` if it is for a payment. */
export function splitRaw(raw: string): { creation?: string; transaction: string } {
  const [first = '', second] = raw.split(' ')
  return second === undefined ? { transaction: first } : { creation: first, transaction: second }
}

/** The id of a transaction that we signed alone. */
export function creationHash(creation: string): string {
  const signature = fromBase64(creation)?.slice(1, 1 + SIGNATURE_BYTES)
  return getBase58Decoder().decode(signature ?? new Uint8Array())
}

const POLL_MS = 150
// About four slots. Afterwards the attempt is sent again in any case.
const MOST_POLLS = 12

/**
 * Creates the account of a payment, and waits until it is there: false if that takes long. Anyone may have sent
 * lamports to its address before.
 */
export async function openAccount(
  { client, settings }: Pick<SolanaParts, 'client' | 'settings'>,
  transaction: string,
  create: () => Promise<void>,
): Promise<boolean> {
  const { terms } = (await readInputWire(settings, transaction)) ?? {}
  const isOpen = async () => {
    const [account] = await readAccounts(client, { addresses: terms ? [terms.destination] : [] })
    return account !== undefined && toTokenAccount(account) !== undefined
  }
  if (await isOpen()) return true
  await create()
  for (let poll = 0; poll < MOST_POLLS; poll += 1) {
    await delay(POLL_MS)
    if (await isOpen()) return true
  }
  return false
}

/**
 * Whether the account of this op is open, and can be closed by a refund: for that the wallet needs one too. It is not
 * created, since its owner could close it again each time to earn the rent.
 */
export async function isClosable(
  { client, facts, addresses }: SolanaParts,
  op: LockRef,
  { commitment, number: minContextSlot }: SolanaBlock,
): Promise<boolean> {
  const { program } = await facts.tokenOf(op.inputToken)
  const wallets = await toTokenAccountAddress({ owner: op.wallet, mint: op.inputToken, program })
  const named = { addresses: [await addresses.inputOf(op), wallets], commitment, minContextSlot }
  const accounts = await readAccounts(client.agreed, named)
  return accounts.every((each) => each && toTokenAccount(each)?.frozen === false)
}
