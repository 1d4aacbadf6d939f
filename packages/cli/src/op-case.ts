import { readFileSync } from 'node:fs'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { parseKey, toAccount } from '@geoswap/wallet/keys'
import { type RefundableOp, readOperation } from '@geoswap/wallet/refund/operation'
import { getRpcUrl } from '@geoswap/wallet/settings'
import type { Attempt } from '@geoswap/wallet/store/journal'
import { unlockWallet } from '@geoswap/wallet/wallets'

/** The op, the journal entry it came from, and the chain that holds its input. */
export type Case = {
  op: RefundableOp
  attempt: Attempt | undefined
  rpcUrl: string
  chain: { chainId: number; name: string }
}

/** Options shared by `refund` and `recover`. */
export const caseOptions = {
  operation: { type: 'string', value: 'FILE', about: 'the operation to refund, as JSON' },
  rpc: { type: 'string', value: 'URL', about: 'a node of the origin chain' },
  'gas-key': {
    type: 'string',
    value: 'WHO',
    about: 'wallet or private key that pays the gas; GEOSWAP_GAS_KEY keeps a key out of sight',
  },
} as const

type Known = { operation: unknown; attempt: Attempt | undefined }
type Given = { operation?: string; rpc?: string }

/** An input on an EVM chain. */
export function findCase(context: Context, id: string | undefined, given: Given): Case {
  const known = findOperation(context, id, given)
  const op = readOperation(known.operation)
  return { op, attempt: known.attempt, ...findNode(context, known, op.origin.chainId, given.rpc) }
}

export function findOperation(
  { journal }: Context,
  id: string | undefined,
  { operation: file }: Given,
): Known {
  const attempt = id === undefined ? undefined : journal.find(id)
  if (file === undefined && !attempt) {
    const advice = 'Give its operation: --operation FILE.'
    throw new UserError('USAGE', id ? `The journal has no swap ${id}.` : 'Which swap?', { advice })
  }
  const operation = file === undefined ? attempt?.operation : readOperationFile(file)
  if (operation === undefined)
    throw new UserError('NOT_REFUNDABLE', 'Nothing was built in this attempt, so no input was taken.')
  return { operation, attempt }
}

export function findNode(
  { settings }: Context,
  { attempt }: Known,
  chainId: number,
  rpc: string | undefined,
) {
  const chain = { chainId, name: attempt?.order.from.chain ?? `chain ${chainId}` }
  const kept = settings.rpcUrls[chainId] ?? attempt?.rpcUrl
  return { chain, rpcUrl: rpc ?? kept ?? getRpcUrl(settings, chain) }
}

function readOperationFile(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UserError('USAGE', `${path} is not JSON.`, { cause })
  }
}

export async function getGasAccount(context: Context, { attempt, op }: Case, named: string | undefined) {
  const key = named ?? context.gasKey
  if (key !== undefined && /^(0x)?[0-9a-fA-F]{64}$/.test(key)) return toAccount(await parseKey(key))
  const name = key ?? attempt?.order.wallet.name
  if (name !== undefined)
    return toAccount(await unlockWallet(context, { name, family: 'evm', address: op.wallet }))
  throw new UserError('NEEDS_GAS', 'No wallet is named to pay for the gas.', { advice: '--gas-key WALLET' })
}

export function needsGas(address: string, missing: bigint): UserError {
  const advice = `Send it ${formatAmount(missing, 18)} more, or pay with another wallet: --gas-key WALLET.`
  return new UserError('NEEDS_GAS', `${address} does not hold enough gas coin.`, { advice })
}
