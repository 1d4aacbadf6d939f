import { type Delivery, hashDelivery, solanaRingOf, toBytes32 } from '@geoswap/protocol'
import { lockInstructions, NATIVE_TOKEN, type OpId, type Terms, type Token } from '@geoswap/solana-escrow'
import type { BuildSolanaTxReply, QuoteReply, QuoteRequest } from '@geoswap/wire'
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  lamports,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { addressOf, nowSeconds, toJson, vault } from './evm-offer.ts'

const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const newAddress = async () => (await generateKeyPairSigner()).address

export const wallet = await generateKeyPairSigner()
export const feePayer = await newAddress()
/** The escrow program, the authority of the vault and the attester's key. */
export const pins = { escrow: await newAddress(), vault: await newAddress(), attester: await newAddress() }
const mint = await newAddress()
export const stranger = await newAddress()

export const accountOf = async (owner: Address, of: Address = mint) =>
  (await findAssociatedTokenPda({ owner, mint: of, tokenProgram: TOKEN_PROGRAM_ADDRESS }))[0]

export const solanaRequest: QuoteRequest = {
  ...{ originChain: 31_339, destinationChain: 31_338, amount: '10000000', walletAddress: wallet.address },
  ...{ inputToken: mint, outputToken: addressOf('b'), recipient: addressOf('1') },
}

export const solanaQuote: QuoteReply = {
  ...{ geoQuoteToken: 'quote', origin: 'solana', feeBps: 12.5, etaSeconds: 3, fees: [], priceImpactBps: -35 },
  ...{ input: '10000000', output: '9965000', minOutput: '9915175' },
  expiresAt: '2026-01-02T03:04:35.678Z',
}

export const delivery: Delivery = {
  ring: solanaRingOf({ chainId: solanaRequest.originChain, program: pins.escrow }),
  ...{ index: 1n << 32n, destinationChain: 31_338n, minOutput: 9_915_175n },
  ...{ vault: toBytes32(vault), fillDeadline: BigInt(nowSeconds() + 800) },
  ...{ outputToken: toBytes32(addressOf('b')), recipient: toBytes32(addressOf('1')) },
}

export const refundDeadline = delivery.fillDeadline + 3_600n

export type Parts = Record<'limit' | 'price' | 'memo' | 'create' | 'transfer', Instruction>
type Transfer = { from: Address; source: Address; destination: Address; mint: Address; amount: bigint }

const token = { mint, program: TOKEN_PROGRAM_ADDRESS, decimals: 6 }

const honestTerms: Terms = {
  ...{ wallet: wallet.address, vault: pins.vault, attester: pins.attester, rentReceiver: feePayer },
  ...{ opId: hashDelivery(delivery) as OpId, refundDeadline, amount: 10_000_000n },
}

/** The instructions of a lock of ten tokens, or of the native coin, under these terms. */
export function lockOf(change: Partial<Terms> = {}, of: Token = token): Promise<Instruction[]> {
  const terms = { ...honestTerms, ...change }
  return lockInstructions(pins.escrow, { terms, token: of, payer: terms.rentReceiver })
}

export const nativeLockOf = (change: Partial<Terms> = {}) => lockOf(change, NATIVE_TOKEN)

const [create, move] = (await lockOf()) as [Instruction, Instruction]
const [sourceMeta, , destinationMeta] = move.accounts ?? []
const source = sourceMeta?.address ?? stranger
export const destination = destinationMeta?.address ?? stranger

export function transferOf(change: Partial<Transfer> = {}): Instruction {
  const { from, amount, ...accounts } = {
    ...{ from: wallet.address, source, destination, mint, amount: 10_000_000n },
    ...change,
  }
  return getTransferCheckedInstruction({
    ...accounts,
    authority: createNoopSigner(from),
    amount,
    decimals: 6,
  })
}

export const nativeTransferOf = (to: Address, amount = 10_000_000n): Instruction =>
  getTransferSolInstruction({
    ...{ source: createNoopSigner(wallet.address), destination: to, amount: lamports(amount) },
  })

export function memoOf(of: Delivery, deadline = refundDeadline): Instruction {
  const memo = `${hashDelivery(of).slice(2)} ${deadline}`
  return getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM })
}

export const parts: Parts = {
  limit: getSetComputeUnitLimitInstruction({ units: 50_000 }),
  price: getSetComputeUnitPriceInstruction({ microLamports: 1_000n }),
  memo: memoOf(delivery),
  create,
  transfer: transferOf(),
}

export function transactionOf(instructions: readonly Instruction[], payer: Address = feePayer): string {
  const lifetime = { blockhash: blockhash(mint), lastValidBlockHeight: 1n }
  const transaction = pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayer(payer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    compileTransaction,
  )
  return getBase64EncodedWireTransaction(transaction)
}

type Told = Partial<
  Record<'wallet' | 'token' | 'amount' | 'destination' | 'feePayer' | 'refundDeadline', string>
>

/** The reply of a build with this transaction, with the description an honest service would give. */
export function solanaBuildOf(
  unsignedTransaction: string,
  { owed = delivery, ...told }: Told & { owed?: Delivery } = {},
): BuildSolanaTxReply {
  return {
    ...{ unsignedTransaction, geoOpToken: 'op', expiresAt: '2026-01-02T03:05:10.000Z' },
    operation: {
      ...{ opId: hashDelivery(owed).slice(2), wallet: wallet.address, token: mint, amount: '10000000' },
      ...{ destination, feePayer, refundDeadline: `${refundDeadline}`, delivery: toJson(owed) },
      ...told,
    },
  }
}
