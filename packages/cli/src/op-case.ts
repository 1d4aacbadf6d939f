import { readFileSync } from 'node:fs'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { assertId, UserError } from '@geoswap/wallet/errors'
import { families } from '@geoswap/wallet/families/registry'
import { addressOf, type Family, type Key, parseKey } from '@geoswap/wallet/keys'
import { type RefundableOp, readOperation } from '@geoswap/wallet/refund/escrow'
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
  if (id !== undefined) assertId(id)
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

type Payer = { attempt: Attempt | undefined; family: Family; wallet: string; named: string | undefined }

/** The key that pays the gas: a named wallet or key, else the wallet of the swap. */
export async function getGasKey(context: Context, { attempt, family, wallet, named }: Payer): Promise<Key> {
  const text = named ?? context.gasKey
  // No name of a wallet is as long as a key, or begins with a bracket.
  if (text !== undefined && /^\[|^.{33}/.test(text)) return parseKey(text)
  const name = text ?? attempt?.order.wallet.name
  if (name !== undefined) return unlockWallet(context, { name, family, address: wallet })
  throw new UserError('NEEDS_GAS', 'No wallet is named to pay for the gas.', { advice: '--gas-key WALLET' })
}

/** Throws unless the payer can pay the most that it may cost. */
export async function assertGas(key: Key, { needed, held }: { needed: bigint; held: bigint }): Promise<void> {
  if (held >= needed) return
  const { coin } = families[key.family]
  const missing = `${formatAmount(needed - held, coin.decimals)} ${coin.name}`
  const advice = `Send it ${missing} more, or pay with another wallet: --gas-key WALLET.`
  throw new UserError('NEEDS_GAS', `${await addressOf(key)} does not hold enough ${coin.name}.`, { advice })
}

/** Throws unless the escrow holds the input and its deadline has passed by the chain's clock. */
export function assertRefundable(
  state: string,
  { refundDeadline, hash }: { refundDeadline: bigint; hash: string },
  now: bigint,
): void {
  if (state === 'claimed')
    throw new UserError('NOT_REFUNDABLE', 'The output was delivered and the input claimed.')
  if (state !== 'locked') {
    const message = `The escrow does not hold the input of ${hash}: it was never locked, or was returned earlier.`
    throw new UserError('NOT_REFUNDABLE', message, {
      advice: 'Check the balance of the wallet. `geoswap recover` sends back what was deposited.',
    })
  }
  if (now > refundDeadline) return
  const at = new Date(Number(refundDeadline) * 1_000).toISOString()
  const minutes = Math.ceil(Number(refundDeadline - now) / 60)
  throw new UserError(
    'TOO_EARLY',
    `Anyone may refund this after ${at}, in ${minutes} min by the chain's clock.`,
    {
      advice: 'Until then the service delivers it or returns the input. Run this again after that time.',
      details: { refundDeadline: at },
    },
  )
}
