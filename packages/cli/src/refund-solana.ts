import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { addressOf, type Key, parseKey } from '@geoswap/wallet/keys'
import { orNodeFailed } from '@geoswap/wallet/nodes/node'
import { readSolanaEscrow, readSolanaGas, sendSolanaRefund } from '@geoswap/wallet/refund/solana-escrow'
import type { SolanaRefundable } from '@geoswap/wallet/refund/solana-operation'
import type { Attempt } from '@geoswap/wallet/store/journal'
import { toEnd } from '@geoswap/wallet/swap/claim'
import { unlockWallet } from '@geoswap/wallet/wallets'
import { columns } from './command.ts'
import { assertRefundable } from './refundable.ts'

/** An input on Solana, the journal entry it came from, and the node of its chain. */
type Case = {
  op: SolanaRefundable
  attempt: Attempt | undefined
  rpcUrl: string
  chain: { chainId: number; name: string }
}

/** Sends the input back by the escrow program itself. Anyone may do so after the deadline. */
export async function refundSolana(context: Context, found: Case, gasKey: string | undefined): Promise<0> {
  const { op, attempt, rpcUrl, chain } = found
  const ask = <T>(answer: Promise<T>) => orNodeFailed(chain, answer)
  const { state, now } = await ask(readSolanaEscrow(rpcUrl, op))
  if (state === 'refunded') return tell(context, found, undefined)
  const { opId: hash, refundDeadline } = op.terms
  assertRefundable(state, { hash, refundDeadline }, now)
  const key = await getGasKey(context, found, gasKey)
  const gas = await ask(readSolanaGas(rpcUrl, key))
  if (gas.held < gas.needed) throw await needsGas(key, gas.needed - gas.held)
  context.terminal.progress('sending the refund')
  const onSent = (txHash: string) => context.terminal.note(`sent ${txHash}`)
  const sent = await ask(sendSolanaRefund(rpcUrl, { op, key, onSent }))
  if (sent.state !== 'refunded')
    throw new UserError('NOT_REFUNDABLE', `Transaction ${sent.txHash} refunded nothing.`, { details: sent })
  if (attempt) context.journal.record(attempt, toEnd(attempt, 'refunded'))
  return tell(context, found, sent.txHash)
}

async function getGasKey(context: Context, { attempt, op }: Case, named: string | undefined): Promise<Key> {
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

async function needsGas(key: Key, missing: bigint): Promise<UserError> {
  const advice = `Send it ${formatAmount(missing, 9)} SOL more, or pay with another wallet: --gas-key WALLET.`
  return new UserError('NEEDS_GAS', `${await addressOf(key)} does not hold enough SOL.`, { advice })
}

function tell({ terminal }: Context, { op, attempt }: Case, txHash: string | undefined): 0 {
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
