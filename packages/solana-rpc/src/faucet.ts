import {
  type Address,
  appendTransactionMessageInstructions,
  blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getTransactionEncoder,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget'
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { type Ledger, setAccount } from './ledger.ts'
import { currentSlot, latestBlockhash } from './slots.ts'
import { readWireTransaction, type WireTransaction } from './wire-transaction.ts'

export type Faucet = { build(drop: { to: Address; amount: bigint }): Promise<WireTransaction> }

const FUNDS = 1n << 63n

/** An account with more lamports than anyone will request. Its transfers are ordinary transactions. */
export async function createFaucet(ledger: Ledger): Promise<Faucet> {
  const signer = await generateKeyPairSigner()
  const account = {
    lamports: FUNDS,
    data: new Uint8Array(),
    owner: SYSTEM_PROGRAM_ADDRESS,
    executable: false,
  }
  setAccount(ledger, signer.address, account)
  let built = 0

  return {
    async build({ to, amount }) {
      built += 1
      const lifetime = latestBlockhash(ledger.slots, currentSlot(ledger.slots))
      // The limit differs each time: equal transfers within one block would be the same transaction.
      const limit = getSetComputeUnitLimitInstruction({ units: 10_000 + (built % 100_000) })
      const transfer = getTransferSolInstruction({
        source: signer,
        destination: to,
        amount: lamports(amount),
      })
      const signed = await pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(signer, message),
        (message) =>
          setTransactionMessageLifetimeUsingBlockhash(
            {
              blockhash: blockhash(lifetime.blockhash),
              lastValidBlockHeight: BigInt(lifetime.lastValidBlockHeight),
            },
            message,
          ),
        (message) => appendTransactionMessageInstructions([limit, transfer], message),
        (message) => signTransactionMessageWithSigners(message),
      )
      return readWireTransaction(Uint8Array.from(getTransactionEncoder().encode(signed)))
    },
  }
}
