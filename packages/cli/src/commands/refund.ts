import type { RefundableOp } from '@geoswap/protocol'
import { formatAmount } from '@geoswap/wallet/amounts'
import { isAddressOf, toCanonical } from '@geoswap/wallet/catalog'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { assertChain, connectEvm, orNodeFailed } from '@geoswap/wallet/nodes/node'
import {
  readEscrow,
  readGasMoney,
  readOpAddress,
  sendRecover,
  sendRefund,
} from '@geoswap/wallet/refund/escrow'
import { isSolanaOperation, readOperation, readSolanaOperation } from '@geoswap/wallet/refund/operation'
import { toEnd } from '@geoswap/wallet/swap/claim'
import { columns, defineCommand } from '../command.ts'
import {
  assertRefundable,
  type Case,
  caseOptions,
  findCase,
  findNode,
  findOperation,
  getGasAccount,
  needsGas,
  refundSolana,
} from '../op-case.ts'

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
    txHash ? ['by', txHash] : ['note', 'it was refunded earlier'],
    credited && ['note', 'the token refused it: the wallet can withdraw it from the escrow'],
  ]
  const { wallet, token, hash } = op
  const value = { refunded: true, amount: op.amount.toString(), token, wallet, op: hash, txHash, credited }
  terminal.result(columns(rows), value)
  return 0
}

export const recover = defineCommand({
  usage: '(ID | --operation FILE) [options]',
  about: `Sends what lies at the address of an operation to its wallet, by the escrow itself: a deposit that
was too small, too large, too late, made twice, or of another token. It needs a node of the
origin chain and some gas coin, but not the service. Before the deadline of the operation it
works only once the input was taken.`,
  words: [0, 1],
  options: {
    ...caseOptions,
    token: {
      type: 'string',
      multiple: true,
      value: 'ADDRESS',
      about: 'another token to look for, besides the input and the native coin',
    },
  },
  examples: ['swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5', '--operation op.json --rpc https://node.example'],

  async run(context, { values, words: [id] }) {
    const found = findCase(context, id, values)
    const { op, rpcUrl, chain } = found
    const ask = <T>(answer: Promise<T>) => orNodeFailed(chain, answer)
    const others = (values.token ?? []).map(toToken)
    await ask(assertChain(connectEvm(rpcUrl), chain))
    const { address, lying } = await ask(readOpAddress(rpcUrl, op, others))
    if (lying.length === 0) return tellRecovery(context, found, { address, sent: [] })
    await ask(assertRecoverable(rpcUrl, op))
    const account = await getGasAccount(context, found, values['gas-key'])
    const gas = await ask(readGasMoney(rpcUrl, account.address))
    if (gas.held < gas.needed) throw needsGas(account.address, gas.needed - gas.held)
    const onSent = (txHash: string) => context.terminal.note(`sent ${txHash}`)
    const sent: Sent[] = []
    for (const { token } of lying) {
      context.terminal.progress(`sending back ${token}`)
      const done = await ask(sendRecover(rpcUrl, { op, token, account, onSent }))
      if (done.amount === 0n)
        throw new UserError('NOT_REFUNDABLE', `Transaction ${done.txHash} sent nothing back.`)
      const { txHash, credited } = done
      sent.push({ token, amount: done.amount.toString(), txHash, credited })
    }
    return tellRecovery(context, found, { address, sent })
  },
})

type Sent = { token: string; amount: string; txHash: string; credited: boolean }

function toToken(text: string): string {
  if (isAddressOf('evm', text)) return toCanonical('evm', text)
  throw new UserError('USAGE', `--token ${text} is not an EVM address.`)
}

async function assertRecoverable(rpcUrl: string, op: RefundableOp): Promise<void> {
  const { state, now } = await readEscrow(rpcUrl, op)
  const { opDeadline } = op.argument
  if (state !== 'none' || now > opDeadline) return
  const at = new Date(Number(opDeadline) * 1_000).toISOString()
  throw new UserError('TOO_EARLY', `The operation can still take it, until ${at}.`, {
    advice: 'Run this again after that time.',
    details: { opDeadline: at },
  })
}

function tellRecovery(
  { terminal }: Context,
  { op, attempt }: Case,
  { address, sent }: { address: string; sent: readonly Sent[] },
): 0 {
  const { decimals = 0, symbol = `units of ${op.token}` } = attempt?.order.from ?? {}
  const amountOf = ({ token, amount }: Sent) =>
    token === op.token ? `${formatAmount(BigInt(amount), decimals)} ${symbol}` : `${amount} units of ${token}`
  const rows = [
    ...sent.flatMap((each) => [
      ['recovered', amountOf(each)],
      ['by', each.txHash],
      each.credited && ['note', 'the wallet was refused it, and can withdraw it from the escrow'],
    ]),
    sent.length === 0 && ['recovered', 'nothing: the address is empty'],
    ['from', address],
    ['to', op.wallet],
  ]
  terminal.result(columns(rows), { recovered: sent, address, wallet: op.wallet, op: op.hash })
  return 0
}
