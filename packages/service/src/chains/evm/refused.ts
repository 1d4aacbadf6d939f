import { BaseError, ContractFunctionRevertedError } from 'viem'

/**
 * The name of the contract's error, or an empty one; undefined if no contract answered and the node or the connection
 * failed. Nodes differ in the code of a revert, but all mention it in their text. The text of viem does not count: it
 * calls every internal error of a node a revert.
 */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof BaseError)) return undefined
  const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  const name = revert instanceof ContractFunctionRevertedError ? revert.data?.errorName : undefined
  return name ?? (/\brevert(ed)?\b/i.test(error.details) ? '' : undefined)
}

// Answers that are missing, or that are not of the type that was asked for.
const UNREADABLE =
  /^(ContractFunctionZeroData|AbiDecoding|InvalidBytes|IntegerOutOfRange|PositionOutOfBounds)/

/** Undefined if nothing at the address answers as expected; rethrows failures of the node. */
export function refusedAsUndefined(error: unknown): undefined {
  const isAnswer = (cause: unknown) => cause instanceof BaseError && UNREADABLE.test(cause.name)
  if (refusalOf(error) !== undefined) return undefined
  if (error instanceof BaseError && error.walk(isAnswer)) return undefined
  throw error
}
