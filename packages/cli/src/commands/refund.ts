import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { assertChain, connectEvm } from '@geoswap/wallet/nodes/evm-reads'
import { orNodeFailed } from '@geoswap/wallet/nodes/node'
import { readEscrow, readGasMoney, sendRefund } from '@geoswap/wallet/refund/escrow'
import { readOperation } from '@geoswap/wallet/refund/operation'
import { isSolanaOperation, readSolanaOperation } from '@geoswap/wallet/refund/solana-operation'
import { toEnd } from '@geoswap/wallet/swap/claim'
import { columns, defineCommand } from '../command.ts'
import { type Case, caseOptions, findNode, findOperation, getGasAccount, needsGas } from '../op-case.ts'
import { refundSolana } from '../refund-solana.ts'
import { assertRefundable } from '../refundable.ts'

export const refund = defineCommand({
  usage: '(ID | --operation FILE) [options]',
  about: `Sends the input of a swap back to its wallet, by the escrow itself, after the deadline that the
wallet signed. It needs a node of the origin chain and some gas coin, but not the service.
ID is a swap or an attempt in the journal of this machine; for any other swap, FILE is the
"operation" of its build reply.`,
  words: [0, 1],
  options: caseOptions,
  examples: [
    'swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5',
    'att_5f2c9a7be1d40836 --gas-key rich --rpc https://node.example',
  ],

  async run(context, { values, words: [id] }) {
    const known = findOperation(context, id, values)
    if (isSolanaOperation(known.operation)) {
      const op = readSolanaOperation(known.operation)
      const found = { op, attempt: known.attempt, ...findNode(context, known, op.chainId, values.rpc) }
      return refundSolana(context, found, values['gas-key'])
    }
    const evm = readOperation(known.operation)
    const found: Case = {
      op: evm,
      attempt: known.attempt,
      ...findNode(context, known, evm.origin.chainId, values.rpc),
    }
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
      throw new UserError('NOT_REFUNDABLE', `Transaction ${sent.txHash} refunded nothing.`, { details: sent })
    if (attempt) context.journal.record(attempt, toEnd(attempt, 'refunded'))
    return tell(context, found, sent)
  },
})

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
