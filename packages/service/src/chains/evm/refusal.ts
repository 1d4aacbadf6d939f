import { BaseError, RpcRequestError } from 'viem'
import type { Refusal } from '../chain.ts'

/** `known`: the node or the chain already has these bytes, or the nonce is consumed. */
type Meaning = 'known' | Refusal

const MEANINGS: readonly [Meaning, RegExp][] = [
  ['known', /already ?known|known transaction|already imported|txn with same hash|nonce too low|OldNonce/i],
  [
    'authority',
    /authority already reserved|delegated accounts|delegation (authority|nonce)|DelegatorHasPending/i,
  ],
  ['unfunded', /insufficient ?funds|doesn't have enough funds/i],
  ['gasTooLow', /intrinsic ?gas(?! too high)|floor data gas/i],
  ['feeBelowBase', /max fee per gas less than block base fee/i],
  [
    'underpriced',
    /underpriced|fee ?too ?low|could not replace existing|gas price below minimum|ReplacementNotAllowed/i,
  ],
]

/** Classifies a node's answer to a broadcast; undefined if its text does not concern the transaction. */
export function meaningOf(error: unknown): Meaning | undefined {
  if (!(error instanceof BaseError)) return undefined
  return MEANINGS.find(([, text]) => text.test(error.details))?.[0]
}

/** The refusal that all nodes gave; undefined if one was silent or unclear, since it may have accepted the bytes. */
export function commonRefusal(errors: readonly unknown[]): Refusal | undefined {
  const [first, ...others] = errors.map(refusalOf)
  return others.every((other) => other === first) ? first : undefined
}

function refusalOf(error: unknown): Refusal | undefined {
  const isNodes = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError)
  const meaning = isNodes ? meaningOf(error) : undefined
  return meaning === 'known' ? undefined : meaning
}
