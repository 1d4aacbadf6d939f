import { decodeErrorResult, type Hex } from 'viem'
import { RpcError, SERVER_ERROR } from './call.ts'

export type ErrorJson = { code: number; message: string; data?: unknown }

// go-ethereum internal/ethapi/errors.go: a reverting call has its own code, and its data unchanged.
const REVERTED = 3
const ERROR_STRING = '0x08c379a0'

/** Converts an error of a rule or of the node to go-ethereum's wording, where clients depend on it. */
export function toErrorJson(error: unknown): ErrorJson {
  if (error instanceof RpcError) return plain(error.code, error.message, error.data)
  const { code, message, data } = error as { code?: number; message?: string; data?: unknown }
  const reverted = revertDataOf(data)
  const text = message ?? 'internal error'
  if (reverted !== undefined && !text.includes('out of gas')) {
    return { code: REVERTED, message: `execution reverted${reasonOf(reverted)}`, data: reverted }
  }
  return plain(typeof code === 'number' ? code : SERVER_ERROR, text, undefined)
}

function plain(code: number, message: string, data: unknown): ErrorJson {
  return data === undefined ? { code, message } : { code, message, data }
}

function revertDataOf(data: unknown): Hex | undefined {
  if (typeof data === 'string') return data.startsWith('0x') ? (data as Hex) : undefined
  if (typeof data !== 'object' || data === null || !('data' in data)) return undefined
  return revertDataOf(data.data)
}

function reasonOf(data: Hex): string {
  if (!data.startsWith(ERROR_STRING)) return ''
  const { args } = decodeErrorResult({ data })
  return `: ${args?.[0]}`
}
