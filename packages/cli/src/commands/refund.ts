import type { RefundableOp } from '@geoswap/protocol'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { CliError } from '@geoswap/wallet/errors'
import { assertChain, connectEvm } from '@geoswap/wallet/nodes/evm-reads'
import { orNodeFailed } from '@geoswap/wallet/nodes/node'
import { readEscrow, readGasMoney, sendRefund } from '@geoswap/wallet/refund/escrow'
import { toEnd } from '@geoswap/wallet/swap/claim'
import { columns, defineCommand } from '../command.ts'
import { type Case, caseOptions, findCase, getGasAccount, needsGas } from '../op-case.ts'

export const refund = defineCommand({
  usage: '(ID | --operation FILE) [options]',
  about: `Sends the input of an EVM swap back to its wallet, by the escrow itself, after the deadline that
the wallet signed. It needs a node of the origin chain and some gas coin, but not the service.
ID is a swap or an attempt in the journal of this machine; for any other swap, FILE is the
"operation" of its build reply. On Solana there is no such refund.`,
  words: [0, 1],
  options: caseOptions,
  examples: [
    'swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5',
    'att_5f2c9a7be1d40836 --gas-key rich --rpc https://node.example',
  ],

  async run(context, { values, words: [id] }) {
    const found = findCase(context, id, values)
    const { op, attempt, rpcUrl, chain } = found
    const ask = <T>(answer: Promise<T>) => orNodeFailed(chain, answer)
    await ask(assertChain(connectEvm(rpcUrl), chain))
    const { state, now } = await ask(readEscrow(rpcUrl, op))
    if (state === 'refunded') return tell(context, found, {})
    assertRefundable(state, op, now)
    const account = await getGasAccount(context, found, values['gas-key'])
    const gas = await ask(readGasMoney(rpcUrl, account.address))
    if (gas.held < gas.needed) throw needsGas(account.address, gas.needed - gas.held)
    context.terminal.progress('sending the refund')
    const onSent = (txHash: string) => context.terminal.note(`sent ${txHash}`)
    const sent = await ask(sendRefund(rpcUrl, { op, account, onSent }))
    if (sent.state !== 'refunded')
      throw new CliError('NOT_REFUNDABLE', `Transaction ${sent.txHash} refunded nothing.`, { details: sent })
    if (attempt) context.journal.record(attempt, toEnd(attempt, 'refunded'))
    return tell(context, found, sent)
  },
})

function assertRefundable(state: string, { refundDeadline, hash }: RefundableOp, now: bigint): void {
  if (state === 'claimed')
    throw new CliError('NOT_REFUNDABLE', 'The output was delivered and the input claimed.')
  if (state !== 'locked') {
    const message = `The escrow does not hold the input of ${hash}: it was never locked, or was returned earlier.`
    throw new CliError('NOT_REFUNDABLE', message, { advice: 'Check the balance of the wallet.' })
  }
  if (now > refundDeadline) return
  const at = new Date(Number(refundDeadline) * 1_000).toISOString()
  const minutes = Math.ceil(Number(refundDeadline - now) / 60)
  throw new CliError(
    'TOO_EARLY',
    `Anyone may refund this after ${at}, in ${minutes} min by the chain's clock.`,
    {
      advice: 'Until then the service delivers it or returns the input. Run this again after that time.',
      details: { refundDeadline: at },
    },
  )
}

function tell(
  { terminal }: Context,
  { op, attempt }: Case,
  { txHash, credited = false }: { txHash?: string; credited?: boolean },
): 0 {
  const { decimals = 0, symbol = `units of ${op.token}` } = attempt?.order.from ?? {}
  const amount = `${formatAmount(op.amount, decimals)} ${symbol}`
  const rows = [
    ['refunded', amount],
    ['to', op.wallet],
    ...(txHash ? [['by', txHash]] : [['note', 'it was refunded earlier']]),
    ...(credited ? [['note', 'the token refused it: the wallet can withdraw it from the escrow']] : []),
  ]
  const { wallet, token, hash } = op
  const value = { refunded: true, amount: op.amount.toString(), token, wallet, op: hash, txHash, credited }
  terminal.result(columns(rows), value)
  return 0
}
