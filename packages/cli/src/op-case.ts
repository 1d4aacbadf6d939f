import { readFileSync } from 'node:fs'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { assertId, UserError } from '@geoswap/wallet/errors'
import { addressOf, type Key, parseKey, toAccount } from '@geoswap/wallet/keys'
import { orNodeFailed } from '@geoswap/wallet/nodes/node'
import { type RefundableOp, readOperation, type SolanaRefundable } from '@geoswap/wallet/refund/operation'
import { readSolanaEscrow, readSolanaGas, sendSolanaRefund } from '@geoswap/wallet/refund/solana-escrow'
import { getRpcUrl } from '@geoswap/wallet/settings'
import type { Attempt } from '@geoswap/wallet/store/journal'
import { toEnd } from '@geoswap/wallet/swap/claim'
import { unlockWallet } from '@geoswap/wallet/wallets'
import { columns } from './command.ts'

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

/** An input on Solana, the journal entry it came from, and the node of its chain. */
type SolanaCase = {
  op: SolanaRefundable
  attempt: Attempt | undefined
  rpcUrl: string
  chain: { chainId: number; name: string }
}

/** Sends the input back by the escrow program itself. Anyone may do so after the deadline. */
export async function refundSolana(
  context: Context,
  found: SolanaCase,
  gasKey: string | undefined,
): Promise<0> {
  const { op, attempt, rpcUrl, chain } = found
  const ask = <T>(answer: Promise<T>) => orNodeFailed(chain, answer)
  const { state, now } = await ask(readSolanaEscrow(rpcUrl, op))
  if (state === 'refunded') return tell(context, found, undefined)
  const { opId: hash, refundDeadline } = op.terms
  assertRefundable(state, { hash, refundDeadline }, now)
  const key = await getGasKey(context, found, gasKey)
  const gas = await ask(readSolanaGas(rpcUrl, key))
  if (gas.held < gas.needed) throw await needsSolanaGas(key, gas.needed - gas.held)
  context.terminal.progress('sending the refund')
  const onSent = (txHash: string) => context.terminal.note(`sent ${txHash}`)
  const sent = await ask(sendSolanaRefund(rpcUrl, { op, key, onSent }))
  if (sent.state !== 'refunded')
    throw new UserError('NOT_REFUNDABLE', `Transaction ${sent.txHash} refunded nothing.`, { details: sent })
  if (attempt) context.journal.record(attempt, toEnd(attempt, 'refunded'))
  return tell(context, found, sent.txHash)
}

async function getGasKey(
  context: Context,
  { attempt, op }: SolanaCase,
  named: string | undefined,
): Promise<Key> {
  const text = named ?? context.gasKey
  const isKey = text !== undefined && (text.startsWith('[') || text.length > 80)
  if (isKey) return solanaKey(await parseKey(text))
  const name = text ?? attempt?.order.wallet.name
  if (name === undefined) {
    const advice = '--gas-key WALLET'
    throw new UserError('NEEDS_GAS', 'No wallet is named to pay for the fee.', { advice })
  }
  return solanaKey(await unlockWallet(context, { name, family: 'solana', address: op.terms.wallet }))
}

function solanaKey(key: Key): Key {
  if (key.family !== 'solana') throw new UserError('BAD_KEY', 'This has to be a key of a Solana wallet.')
  return key
}

async function needsSolanaGas(key: Key, missing: bigint): Promise<UserError> {
  const advice = `Send it ${formatAmount(missing, 9)} SOL more, or pay with another wallet: --gas-key WALLET.`
  return new UserError('NEEDS_GAS', `${await addressOf(key)} does not hold enough SOL.`, { advice })
}

function tell({ terminal }: Context, { op, attempt }: SolanaCase, txHash: string | undefined): 0 {
  const { wallet, opId } = op.terms
  const { decimals = 0, symbol = `units of ${op.token.mint}` } = attempt?.order.from ?? {}
  const rows = [
    ['refunded', `${formatAmount(op.amount, decimals)} ${symbol}`],
    ['to', wallet],
    txHash ? ['by', txHash] : ['note', 'it was refunded earlier'],
  ]
  const token = op.token.mint
  const value = { refunded: true, amount: `${op.amount}`, token, wallet, op: opId, txHash, credited: false }
  terminal.result(columns(rows), value)
  return 0
}
