import { depositAddressOf, geoEscrowAbi } from '@geoswap/protocol'
import { encodeFunctionData, type Hex } from 'viem'
import { LOCK_AT_ADDRESS, toEscrowOp } from '../chains/evm/plans.ts'
import { readHeld } from '../chains/evm/ways.ts'
import { type EvmWay, onlyOne } from './way.ts'

/** Anyone sends the input to the op's own address: an exchange, another wallet, a contract. */
export const deposit: EvmWay<'deposit'> = {
  name: 'deposit',
  signs: 'nothing',
  isBatched: false,
  isSimulated: false,
  takes: () => true,
  canPay: () => true,
  usesAddress: true,
  toPayment: ({ escrow, op }) => ({
    depositAddress: depositAddressOf(escrow, op.hash as Hex),
    depositUntil: op.expiresAt.toISOString(),
  }),
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
