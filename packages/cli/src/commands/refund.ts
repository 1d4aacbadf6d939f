import type { RefundableOp } from '@geoswap/protocol'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { evm, toAccount } from '@geoswap/wallet/families/evm'
import type { Input } from '@geoswap/wallet/families/family'
import { readAnyInput } from '@geoswap/wallet/families/registry'
import { assertChain, connectEvm } from '@geoswap/wallet/nodes/evm-node'
import { orNodeFailed } from '@geoswap/wallet/nodes/node'
import { readEscrow, readGasMoney, readOpAddress, sendRecover } from '@geoswap/wallet/refund/escrow'
import type { Attempt } from '@geoswap/wallet/store/journal'
import { toEnd } from '@geoswap/wallet/swap/claim'
import { columns, defineCommand } from '../command.ts'
import {
  assertGas,
  assertRefundable,
  type Case,
  caseOptions,
  findCase,
  findNode,
  findOperation,
  getGasKey,
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
    const input = readAnyInput(known.operation)
    if (!input) throw new UserError('USAGE', 'This is not the operation of a swap.', { advice: WHERE_FOUND })
    const { attempt } = known
    const { chain, rpcUrl } = findNode(context, known, input.chainId, values.rpc)
    const ask = <T>(answer: Promise<T>) => orNodeFailed(chain, answer)
    const { state, now } = await ask(input.read(rpcUrl, chain))
    if (state === 'refunded') return tell(context, { input, attempt }, {})
    assertRefundable(state, input, now)
    const { family, wallet } = input
    const payer = await getGasKey(context, { attempt, family, wallet, named: values['gas-key'] })
    await assertGas(payer, await ask(input.readGas(rpcUrl, payer)))
    context.terminal.progress('sending the refund')
    const onSent = (txHash: string) => context.terminal.note(`sent ${txHash}`)
    const sent = await ask(input.refund(rpcUrl, { payer, onSent }))
    if (sent.state !== 'refunded')
      throw new UserError('NOT_REFUNDABLE', `Transaction ${sent.txHash} refunded nothing.`, { details: sent })
    if (attempt) context.journal.record(attempt, toEnd(attempt, 'refunded'))
    return tell(context, { input, attempt }, sent)
  },
})

const WHERE_FOUND = 'It is the field operation of a reply of a build call.'

function tell(
  { terminal }: Context,
  { input, attempt }: { input: Input; attempt: Attempt | undefined },
  { txHash, credited = false }: { txHash?: string; credited?: boolean },
): 0 {
  const { wallet, token, hash, amount } = input
  const { decimals = 0, symbol = `units of ${token}` } = attempt?.order.from ?? {}
  const rows = [
    ['refunded', `${formatAmount(amount, decimals)} ${symbol}`],
    ['to', wallet],
    txHash ? ['by', txHash] : ['note', 'it was refunded earlier'],
    credited && ['note', 'the token refused it: the wallet can withdraw it from the escrow'],
  ]
  const value = { refunded: true, amount: amount.toString(), token, wallet, op: hash, txHash, credited }
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
    const { attempt } = found
    const named = values['gas-key']
    const payer = await getGasKey(context, { attempt, family: evm.name, wallet: op.wallet, named })
    const account = toAccount(payer)
    await assertGas(payer, await ask(readGasMoney(rpcUrl, account.address)))
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
  const address = evm.parseAddress(text)
  if (address !== undefined) return address
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
