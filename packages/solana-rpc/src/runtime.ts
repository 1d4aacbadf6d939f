import { type Address, getAddressDecoder } from '@solana/kit'
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3, MEMO_PROGRAM_ADDRESS } from '@solana-program/memo'
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm'
import type { Account } from './account-store.ts'
import type { TransactionError } from './transaction-error.ts'
import { toTransactionError } from './transaction-error.ts'
import type { Instruction, WireTransaction } from './wire-transaction.ts'

export type InnerInstruction = Instruction & { stackHeight: number }
export type InnerGroup = { index: number; instructions: InnerInstruction[] }
export type Outcome = {
  err: TransactionError | null
  logs: string[]
  unitsConsumed: bigint
  inner: InnerGroup[]
  returnData: { programId: Address; data: Uint8Array } | undefined
}
export type Simulated = Outcome & { after: Map<Address, Account> }

// Mainnet's epoch length, without the warm-up that a test validator has.
export const SLOTS_PER_EPOCH = 432_000

// The SlotHashes sysvar keeps this many; programs ask it whether a slot is recent.
const SLOT_HASHES = 512

export type Runtime = ReturnType<typeof createRuntime>

/**
 * The Agave runtime. It verifies signatures. Blockhash age and duplicates are checked before it, because it
 * knows only one blockhash and no commitments.
 */
export function createRuntime() {
  const svm = new LiteSVM()
    .withNativeMints()
    .withSigverify(true)
    .withBlockhashCheck(false)
    .withTransactionHistory(0n)
  addNewestMemo(svm)

  return {
    svm,

    setSlot(block: { slot: number; timeSeconds: number }): void {
      const epoch = BigInt(Math.floor(block.slot / SLOTS_PER_EPOCH))
      svm.setClock(new Clock(BigInt(block.slot), 0n, epoch, epoch + 1n, BigInt(block.timeSeconds)))
    },

    /** Gives the runtime a new blockhash, which programs such as nonces can see. */
    expireBlockhash: (): void => svm.expireBlockhash(),

    setRecentSlots(blocks: readonly { slot: number; blockhash: string }[]): void {
      const recent = blocks.slice(-SLOT_HASHES).reverse()
      svm.setSlotHashes(recent.map(({ slot, blockhash }) => ({ slot: BigInt(slot), hash: blockhash })))
    },

    execute(transaction: WireTransaction): Outcome {
      const result = svm.sendTransaction(transaction.signed)
      return result instanceof FailedTransactionMetadata ? toFailure(result) : toOutcome(result, null)
    },

    simulate(transaction: WireTransaction, options: { verify: boolean }): Simulated {
      svm.withSigverify(options.verify)
      try {
        const result = svm.simulateTransaction(transaction.signed)
        if (result instanceof FailedTransactionMetadata) return { ...toFailure(result), after: new Map() }
        const after = result.postAccounts().map((post): [Address, Account] => {
          const { data, executable, programAddress: owner } = post
          return [post.address, { lamports: post.lamports, data: Uint8Array.from(data), owner, executable }]
        })
        return { ...toOutcome(result.meta(), null), after: new Map(after) }
      } finally {
        svm.withSigverify(true)
      }
    },
  }
}

// The memo client uses a newer deployment than the runtime includes; its interface is the same.
function addNewestMemo(svm: LiteSVM): void {
  const memo = svm.getAccount(LEGACY_MEMO_PROGRAM_ADDRESS_V3)
  if (memo.exists)
    svm.addProgramWithLoader(MEMO_PROGRAM_ADDRESS, Uint8Array.from(memo.data), memo.programAddress)
}

function toFailure(failed: FailedTransactionMetadata): Outcome {
  return toOutcome(failed.meta(), toTransactionError(failed))
}

function toOutcome(meta: TransactionMetadata, err: TransactionError | null): Outcome {
  const groups = meta.innerInstructions().map((group, index) => ({
    index,
    instructions: group.map((inner): InnerInstruction => {
      const instruction = inner.instruction()
      const data = Uint8Array.from(instruction.data())
      const accounts = [...instruction.accounts()]
      return { programIndex: instruction.programIdIndex(), accounts, data, stackHeight: inner.stackHeight() }
    }),
  }))
  const returned = meta.returnData()
  const data = Uint8Array.from(returned.data())
  return {
    err,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    inner: groups.filter((group) => group.instructions.length > 0),
    returnData:
      data.length > 0 ? { programId: getAddressDecoder().decode(returned.programId()), data } : undefined,
  }
}
