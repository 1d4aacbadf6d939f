import { readFileSync } from 'node:fs'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { CliError } from '@geoswap/wallet/errors'
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

export function findCase(
  { journal, settings }: Context,
  id: string | undefined,
  { operation: file, rpc }: { operation?: string; rpc?: string },
): Case {
  const attempt = id === undefined ? undefined : journal.find(id)
  if (file === undefined && !attempt) {
    const advice = 'Give its operation: --operation FILE.'
    throw new CliError('USAGE', id ? `The journal has no swap ${id}.` : 'Which swap?', { advice })
  }
  const operation = file === undefined ? attempt?.operation : readOperationFile(file)
  if (operation === undefined) throw withoutOperation(attempt)
  const op = readOperation(operation)
  const chain = {
    chainId: op.origin.chainId,
    name: attempt?.order.from.chain ?? `chain ${op.origin.chainId}`,
  }
  const kept = settings.rpcUrls[chain.chainId] ?? attempt?.rpcUrl
  return { op, attempt, chain, rpcUrl: rpc ?? kept ?? getRpcUrl(settings, chain) }
}

function readOperationFile(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CliError('USAGE', `${path} is not JSON.`, { cause })
  }
}

function withoutOperation(attempt: Attempt | undefined): CliError {
  const isBuilt = attempt?.stage === 'submitted' || attempt?.stage === 'submitting'
  return isBuilt
    ? new CliError('NOT_REFUNDABLE', 'On Solana only the service can send an input back.', {
        advice: 'The service does so by itself; geoswap status shows it.',
      })
    : new CliError('NOT_REFUNDABLE', 'Nothing was built in this attempt, so no input was taken.')
}

export async function getGasAccount(context: Context, { attempt, op }: Case, named: string | undefined) {
  const key = named ?? context.gasKey
  if (key !== undefined && /^(0x)?[0-9a-fA-F]{64}$/.test(key)) return toAccount(await parseKey(key))
  const name = key ?? attempt?.order.wallet.name
  if (name !== undefined)
    return toAccount(await unlockWallet(context, { name, family: 'evm', address: op.wallet }))
  throw new CliError('NEEDS_GAS', 'No wallet is named to pay for the gas.', { advice: '--gas-key WALLET' })
}

export function needsGas(address: string, missing: bigint): CliError {
  const advice = `Send it ${formatAmount(missing, 18)} more, or pay with another wallet: --gas-key WALLET.`
  return new CliError('NEEDS_GAS', `${address} does not hold enough gas coin.`, { advice })
}
