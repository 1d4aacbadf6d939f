import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
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
  findAssociatedTokenPda,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { toPaymentHeader } from './x402.ts'

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address

/** One way to pay from Solana. */
export type TransferOffer = {
  asset: string
  amount: string
  payTo: string
  extra: Record<'feePayer' | 'memo' | 'recentBlockhash', string>
}

/** The differences from the transaction that is asked for. */
export type Changed = {
  units?: number
  price?: number
  memo?: string
  amount?: bigint
  feePayer?: string
  to?: string
  blockhash?: string
  more?: Instruction[]
}

/** The transaction of a payer, as the public client makes it unless something is changed. */
export async function toTransfer(
  wallet: KeyPairSigner,
  { asset, amount: asked, payTo, extra }: TransferOffer,
  changed: Changed = {},
): Promise<string> {
  const mint = address(asset)
  const { units = 20_000, price = 1, memo = extra.memo, amount = BigInt(asked), more = [] } = changed
  const [source, destination] = await Promise.all([
    accountOf(wallet.address, mint),
    accountOf(changed.to ?? payTo, mint),
  ])
  const moved = { source, destination, authority: wallet, mint, amount, decimals: 6 }
  const blockhash = (changed.blockhash ?? extra.recentBlockhash) as never
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayer(address(changed.feePayer ?? extra.feePayer), message),
    (message) =>
      setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 0n }, message),
    (message) =>
      appendTransactionMessageInstructions(
        [
          getSetComputeUnitLimitInstruction({ units }),
          getSetComputeUnitPriceInstruction({ microLamports: price }),
          getTransferCheckedInstruction(moved),
          getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM }),
          ...more,
        ],
        message,
      ),
    (message) => partiallySignTransactionMessageWithSigners(message),
  )
  return getBase64EncodedWireTransaction(signed)
}

export async function accountOf(owner: string, mint: Address): Promise<Address> {
  const of = { owner: address(owner), mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }
  return (await findAssociatedTokenPda(of))[0]
}

/** The header that pays an offer by this transaction. */
export const transferHeader = (offer: TransferOffer, transaction: string): string =>
  toPaymentHeader(offer, { transaction })
