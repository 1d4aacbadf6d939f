import {
  BaseError,
  BlockNotFoundError,
  HttpRequestError,
  RpcRequestError,
  TimeoutError,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem'
import { isOfContract } from './attempt.ts'

const SILENT = [
  HttpRequestError,
  TimeoutError,
  RpcRequestError,
  BlockNotFoundError,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
]

/** Whether an error of viem says that a node was silent, and not that a contract refused or is odd. */
export function isEvmSilence(error: unknown): boolean {
  if (!(error instanceof BaseError) || isOfContract(error)) return false
  return error.walk((cause) => SILENT.some((kind) => cause instanceof kind)) !== null
}
