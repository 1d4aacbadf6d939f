import type { Address } from '@solana/kit'
import { toAccountJson } from '../account-json.ts'
import { loadedAddresses } from '../account-keys.ts'
import { findAt, sizeOf } from '../account-store.ts'
import { findRefusal, keysOf, landTransaction, simulateAt } from '../execution.ts'
import type { Faucet } from '../faucet.ts'
import { type Faults, forwardTransaction } from '../faults.ts'
import { feeOf } from '../fees.ts'
import type { Methods } from '../json-rpc.ts'
import type { Ledger } from '../ledger.ts'
import {
  type Config,
  findBoolean,
  findInteger,
  readAddress,
  readArray,
  readBank,
  readBytes,
  readConfig,
  readU64,
} from '../params.ts'
import { invalidParams, PREFLIGHT_FAILURE, RpcError, SIGNATURE_FAILURE } from '../rpc-error.ts'
import type { Simulated } from '../runtime.ts'
import { isBlockhashValid, latestBlockhash } from '../slots.ts'
import { describeTransactionError } from '../transaction-error.ts'
import { toInnerJson, toReturnDataJson } from '../transaction-json.ts'
import { readMessage, readWireTransaction, type WireTransaction } from '../wire-transaction.ts'

type Node = { ledger: Ledger; faults: Faults; faucet: Faucet }
type Run = { transaction: WireTransaction; slot: number; verify: boolean; checkAge: boolean }

/** All methods that take a transaction or message. */
export function sendingMethods({ ledger, faults, faucet }: Node): Methods {
  return {
    sendTransaction([encoded, options]) {
      const config = readConfig(options)
      findInteger(config.maxRetries)
      const transaction = readWireTransaction(readBytes(encoded, config.encoding))
      const skipPreflight = findBoolean(config.skipPreflight)
      const commitment = skipPreflight ? 'processed' : config.preflightCommitment
      const { slot } = readBank(ledger, { commitment, minContextSlot: config.minContextSlot })
      if (!skipPreflight) assertPreflight(ledger, { transaction, slot })
      forwardTransaction(ledger, faults, transaction)
      return transaction.signature
    },
    simulateTransaction: ([encoded, options]) => simulate(ledger, encoded, readConfig(options)),
    async requestAirdrop([to, amount]) {
      const transaction = await faucet.build({ to: readAddress(to), amount: readU64(amount) })
      const { slot } = readBank(ledger, { commitment: 'processed' })
      assertPreflight(ledger, { transaction, slot })
      // Bypasses the faults, which are for the transactions under test.
      landTransaction(ledger, transaction)
      return transaction.signature
    },
    getFeeForMessage([encoded, options]) {
      const { slot, context } = readBank(ledger, readConfig(options))
      const message = readMessage(readBytes(encoded, 'base64'))
      const isLive = isBlockhashValid(ledger.slots, { blockhash: message.blockhash, slot })
      return { context, value: isLive ? feeOf(message) : null }
    },
  }
}

function assertPreflight(ledger: Ledger, query: { transaction: WireTransaction; slot: number }): void {
  const result = runAt(ledger, { ...query, verify: true, checkAge: true })
  if (result.err === null) return
  const message = `Transaction simulation failed: ${describeTransactionError(result.err)}`
  const data = { ...toSimulationJson(ledger, query.transaction, result), accounts: null }
  throw new RpcError(PREFLIGHT_FAILURE, message, data)
}

function simulate(ledger: Ledger, encoded: unknown, config: Config) {
  const transaction = readWireTransaction(readBytes(encoded, config.encoding))
  const verify = findBoolean(config.sigVerify)
  const replace = findBoolean(config.replaceRecentBlockhash)
  if (verify && replace) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
  const { slot, context } = readBank(ledger, config)
  const result = runAt(ledger, { transaction, slot, verify, checkAge: !replace })
  const value = {
    ...toSimulationJson(ledger, transaction, result),
    accounts: config.accounts == null ? null : toAccounts(ledger, { result, slot, wanted: config.accounts }),
    innerInstructions: findBoolean(config.innerInstructions)
      ? toInnerJson(result.inner, keysOf(ledger, transaction))
      : null,
    replacementBlockhash: replace ? latestBlockhash(ledger.slots, slot) : null,
  }
  return { context, value }
}

/** Simulates as a node does: signatures first, then age and duplicates, then the programs. */
function runAt(ledger: Ledger, run: Run): Simulated {
  const { transaction, verify } = run
  const mismatch = new RpcError(SIGNATURE_FAILURE, 'Transaction signature verification failure')
  if (verify && !transaction.isFullySigned) throw mismatch
  const result = simulateAt(ledger, run)
  if (result.err === 'SignatureFailure') throw mismatch
  const refusal = run.checkAge ? findRefusal(ledger, run) : undefined
  if (!refusal) return result
  return { err: refusal, logs: [], unitsConsumed: 0n, inner: [], returnData: undefined, after: new Map() }
}

function toSimulationJson(ledger: Ledger, transaction: WireTransaction, result: Simulated) {
  const keys = keysOf(ledger, transaction)
  const sizes = keys.map(({ address }) => sizeOf(ledger.accounts, address))
  return {
    err: result.err,
    logs: result.logs,
    unitsConsumed: result.unitsConsumed,
    returnData: toReturnDataJson(result.returnData) ?? null,
    fee: feeOf(transaction.message),
    loadedAddresses: loadedAddresses(keys),
    loadedAccountsDataSize: sizes.reduce((total, size) => total + size + ACCOUNT_OVERHEAD_BYTES, 0),
    innerInstructions: null,
    preBalances: null,
    postBalances: null,
    preTokenBalances: null,
    postTokenBalances: null,
    replacementBlockhash: null,
  }
}

// SIMD-186: added to the data size of each loaded account.
const ACCOUNT_OVERHEAD_BYTES = 64

function toAccounts(ledger: Ledger, query: { result: Simulated; slot: number; wanted: unknown }) {
  const { result, slot } = query
  const wanted = readConfig(query.wanted)
  const encoding = wanted.encoding ?? 'base64'
  const find = (address: Address) => result.after.get(address) ?? findAt(ledger.accounts, { address, slot })
  return readArray(wanted.addresses, { max: 100 })
    .map(readAddress)
    .map((address) => {
      const account = find(address)
      return account && account.lamports > 0n ? toAccountJson(account, { encoding }, find) : null
    })
}
