import { type Delivery, hashDelivery, solanaRingOf, toBytes32 } from '@geoswap/protocol'
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
import {
  getCreateAccountWithSeedInstruction,
  getTransferSolInstruction,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
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
export const intake = await newAddress()
const mint = await newAddress()
export const stranger = await newAddress()
const marker = await newAddress()

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
  ring: solanaRingOf({ chainId: solanaRequest.originChain, intake }),
  ...{ index: 1n << 32n, destinationChain: 31_338n, minOutput: 9_915_175n },
  ...{ vault: toBytes32(vault), fillDeadline: BigInt(nowSeconds() + 800) },
  ...{ outputToken: toBytes32(addressOf('b')), recipient: toBytes32(addressOf('1')) },
}

export type Parts = Record<'limit' | 'price' | 'marker' | 'memo' | 'transfer', Instruction>
type Transfer = { from: Address; source: Address; destination: Address; mint: Address; amount: bigint }

const source = await accountOf(wallet.address)
export const destination = await accountOf(intake)

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

export function memoOf(of: Delivery): Instruction {
  return getAddMemoInstruction({ memo: hashDelivery(of).slice(2) }, { programAddress: MEMO_PROGRAM })
}

export function markerOf(payer: Address): Instruction {
  return getCreateAccountWithSeedInstruction({
    ...{ payer: createNoopSigner(payer), newAccount: marker, base: payer, seed: 'a'.repeat(32) },
    ...{ amount: 890_880n, space: 0n, programAddress: SYSTEM_PROGRAM_ADDRESS },
  })
}

export const parts: Parts = {
  limit: getSetComputeUnitLimitInstruction({ units: 50_000 }),
  price: getSetComputeUnitPriceInstruction({ microLamports: 1_000n }),
  marker: markerOf(feePayer),
  memo: memoOf(delivery),
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

type Told = Partial<Record<'wallet' | 'token' | 'amount' | 'source' | 'destination' | 'feePayer', string>>

/** The reply of a build with this transaction, with the description an honest service would give. */
export function solanaBuildOf(
  unsignedTransaction: string,
  { owed = delivery, ...told }: Told & { owed?: Delivery } = {},
): BuildSolanaTxReply {
  return {
    ...{ unsignedTransaction, geoOpToken: 'op', expiresAt: '2026-01-02T03:05:10.000Z' },
    operation: {
      ...{ opId: hashDelivery(owed).slice(2), wallet: wallet.address, token: mint, amount: '10000000' },
      ...{ source, destination, feePayer, delivery: toJson(owed) },
      ...told,
    },
  }
}
