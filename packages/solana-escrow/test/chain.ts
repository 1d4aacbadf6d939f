import type { Address, Instruction } from '@solana/kit'
import { Account, FailedTransactionMetadata, LiteSvm } from 'litesvm/dist/internal.js'
import { escrowProgram } from '../src/program.gen.ts'
import { SYSTEM_PROGRAM } from '../src/terms.ts'
import { addressOf, bytesOf, compileUnsigned } from './transaction.ts'

export type ChainAccount = { lamports: bigint; owner: Address; data: Uint8Array }

/** `code` is a custom error; `explain` names any. */
export type Outcome = { ok: boolean; code?: number; explain?: () => string; units: number; bytes: number }

export type Chain = ReturnType<typeof createChain>

let named = 0

/** A new address that no key has been asked for. */
export function newAddress(): Address {
  const bytes = new Uint8Array(32).fill(7)
  new DataView(bytes.buffer).setUint32(0, ++named)
  return addressOf(bytes)
}

/**
 * A chain in memory with the program on it. It takes every signature for given: the program sees who is named as a
 * signer, and whether a signature is right is the chain's own question.
 */
export function createChain(elf: Uint8Array = escrowProgram) {
  const svm = new LiteSvm()
  svm.setSigverify(false)
  svm.setBlockhashCheck(false)
  svm.setTransactionHistory(0n)
  svm.withNativeMints()
  const program = newAddress()
  svm.addProgram(bytesOf(program), elf)
  const feePayer = newAddress()
  const chain = {
    svm,
    program,
    feePayer,

    set(address: Address, { lamports, owner, data }: ChainAccount): void {
      svm.setAccount(bytesOf(address), new Account(lamports, data, bytesOf(owner), false, 0n))
    },

    /** Undefined without lamports: such an account ends with its transaction. */
    get(address: Address): ChainAccount | undefined {
      const found = svm.getAccount(bytesOf(address))
      if (!found || found.lamports() === 0n) return undefined
      return { lamports: found.lamports(), owner: addressOf(found.owner()), data: found.data() }
    },

    balance: (address: Address): bigint => svm.getBalance(bytesOf(address)) ?? 0n,

    fund(address: Address, lamports: bigint): void {
      chain.set(address, { lamports, owner: SYSTEM_PROGRAM, data: new Uint8Array() })
    },

    setTime(seconds: bigint): void {
      const clock = svm.getClock()
      clock.unixTimestamp = seconds
      svm.setClock(clock)
    },

    run(...instructions: Instruction[]): Outcome {
      const wire = compileUnsigned(feePayer, instructions)
      const result = svm.sendVersionedTransaction(wire)
      if (!(result instanceof FailedTransactionMetadata)) {
        return { ok: true, units: Number(result.computeUnitsConsumed()), bytes: wire.length }
      }
      const units = Number(result.meta().computeUnitsConsumed())
      const code = customCodeOf(result)
      const explain = () => result.toString()
      return { ok: false, ...(code !== undefined && { code }), explain, units, bytes: wire.length }
    },

    rent: (bytes: number): bigint => svm.minimumBalanceForRentExemption(BigInt(bytes)),
  }
  chain.fund(feePayer, 10n ** 18n)
  return chain
}

function customCodeOf(failed: FailedTransactionMetadata): number | undefined {
  const error = failed.err()
  if (typeof error === 'number' || !('err' in error)) return undefined
  const inner = error.err()
  return typeof inner === 'object' && 'code' in inner ? inner.code : undefined
}
