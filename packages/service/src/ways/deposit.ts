import { depositAddressOf, geoEscrowAbi, transferTo } from '@geoswap/protocol'
import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { LOCK_AT_ADDRESS, toEscrowOp } from '../chains/evm/plans.ts'
import { readHeld } from '../chains/evm/ways.ts'
import { type BuiltOp, type EvmWay, onlyOne } from './way.ts'

/** Anyone sends the input to the op's own address: an exchange, another wallet, a contract. */
export const deposit: EvmWay<'deposit'> = {
  name: 'deposit',
  signs: 'nothing',
  payer: 'anyone',
  isBatched: false,
  isSimulated: false,
  takes: () => true,
  canPay: () => true,
  usesAddress: true,
  toPayment(built) {
    const depositAddress = depositAddressOf(built.escrow, built.op.hash as Hex)
    return {
      depositAddress,
      depositUntil: built.op.expiresAt.toISOString(),
      ...toSend(built, depositAddress),
    }
  },
  measured: { gas: 84_500n, bytes: 360n },
  planLock({ escrow }, swaps) {
    const args = [toEscrowOp(onlyOne(swaps).op)] as const
    const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockDeposited', args })
    return { to: escrow, data, gas: LOCK_AT_ADDRESS }
  },
  opsIn: (call) => (call.functionName === 'lockDeposited' ? [call.args[0]] : undefined),
  isSigned: async () => false,
  async findObstacle(reads, swap) {
    const { depositAddress, wallet } = swap.op
    // It was seen by a majority: a single node that stands still must not say that it is gone.
    const asked = { client: reads.clients.agreed, owner: depositAddress ?? wallet }
    return (await readHeld(reads, swap, asked)).obstacle
  },
}

/** The wallet itself sends the input there, in one ordinary transaction, while the price of the op holds. */
export const transfer: EvmWay<'transfer'> = { ...deposit, name: 'transfer', payer: 'wallet' }

/** The transaction that sends the input, for wallets that take a transaction and for those that take calls. */
function toSend({ chain: { chainId }, quote }: BuiltOp, to: Hex) {
  const { value, ...call } = transferTo(to, { token: quote.inputToken as Hex, amount: quote.amountIn })
  return {
    transaction: { chainId, ...call, value: value.toString() },
    sendCalls: {
      version: '2.0.0',
      from: quote.wallet,
      chainId: numberToHex(chainId),
      atomicRequired: false,
      calls: [{ ...call, value: numberToHex(value) }],
    },
  }
}
