import { type Address, type Instruction, lamports, type TransactionSigner } from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { getTransferCheckedInstruction } from '@solana-program/token'
import { toTokenAccountAddress } from './accounts.ts'
import { toOpId } from './bytes.ts'
import { isNative, type Token } from './mint.ts'

/**
 * The memo program of version 3. The newest is not on every cluster, and Token-2022 recognizes only the older ones: an
 * account that requires a memo would reject it.
 */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address

type ComputeBudget = { units: number; microLamportsPerUnit: bigint }

export function budgetInstructions({ units, microLamportsPerUnit }: ComputeBudget): Instruction[] {
  return [
    getSetComputeUnitLimitInstruction({ units }),
    getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
  ]
}

/** Names the op and, for an input, its deadline. Contains nothing written by a caller. */
export function memoInstruction(opHash: string, refundDeadline?: number): Instruction {
  const memo = [toOpId(opHash), ...(refundDeadline === undefined ? [] : [refundDeadline])].join(' ')
  return getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM })
}

type Transfer = { from: TransactionSigner; to: string; token: Token; amount: bigint }

/** Between the associated token accounts of both, or of lamports between both addresses. */
export async function transferInstruction({ from, to, token, amount }: Transfer): Promise<Instruction> {
  if (isNative(token)) {
    return getTransferSolInstruction({
      source: from,
      destination: to as Address,
      amount: lamports(amount),
    })
  }
  const { mint, program, decimals } = token
  const [source, destination] = await Promise.all([
    toTokenAccountAddress({ owner: from.address, mint, program }),
    toTokenAccountAddress({ owner: to, mint, program }),
  ])
  return getTransferCheckedInstruction(
    {
      source: source as Address,
      mint: mint as Address,
      destination: destination as Address,
      authority: from,
      amount,
      decimals,
    },
    { programAddress: program as Address },
  )
}
