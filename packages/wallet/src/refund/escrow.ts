import {
  depositAddressOf,
  geoEscrowAbi,
  type RefundableOp,
  readRefundableOp,
  type SlotState,
  slotStateOf,
} from '@geoswap/protocol'
import {
  type Address,
  createWalletClient,
  decodeEventLog,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  isAddressEqual,
  type PublicClient,
  parseEventLogs,
  type TransactionReceipt,
  zeroAddress,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { UserError } from '../errors.ts'
import { connectEvm } from '../nodes/evm-node.ts'

export type { RefundableOp } from '@geoswap/protocol'

// Above the gas that the escrow requires, so that the amount is paid and not just credited.
const REFUND_GAS = 450_000n
const INCLUSION_TIMEOUT_MS = 120_000

/** Reads the `operation` of a build reply. A wrong field yields a hash that no slot holds. */
export function readOperation(value: unknown): RefundableOp {
  try {
    return readRefundableOp(value)
  } catch (cause) {
    const advice = 'It is the field operation of a reply of POST /swap/build-geo-op.'
    throw new UserError('USAGE', 'This is not the operation of an EVM swap.', { advice, cause })
  }
}

/** Reads an op's state from the chain itself. */
export async function readEscrow(
  rpcUrl: string,
  op: RefundableOp,
): Promise<{ state: SlotState; now: bigint }> {
  const client = connectEvm(rpcUrl)
  const [state, { timestamp }] = await Promise.all([readSlot(client, op), client.getBlock()])
  return { state, now: timestamp }
}

async function readSlot(
  client: PublicClient,
  { origin, locker, position, hash }: RefundableOp,
): Promise<SlotState> {
  const escrow = { address: origin.escrow, abi: geoEscrowAbi } as const
  const args = [locker, position] as const
  return slotStateOf(await client.readContract({ ...escrow, functionName: 'slot', args }), hash)
}

/** The maximum gas cost, and the balance available for it. */
export async function readGasMoney(
  rpcUrl: string,
  address: Address,
): Promise<{ needed: bigint; held: bigint }> {
  const client = connectEvm(rpcUrl)
  const [{ maxFeePerGas }, held] = await Promise.all([
    client.estimateFeesPerGas(),
    client.getBalance({ address }),
  ])
  return { needed: maxFeePerGas * REFUND_GAS, held }
}

type Refunded = { txHash: Hex; state: SlotState; credited: boolean }

/** Sends the refund and waits for its block. The op's slot, not the receipt, tells whether it succeeded. */
export async function sendRefund(
  rpcUrl: string,
  { op, account, onSent }: { op: RefundableOp; account: PrivateKeyAccount; onSent(txHash: Hex): void },
): Promise<Refunded> {
  const args = [op.locker, op.argument] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args })
  const receipt = await callEscrow(rpcUrl, { op, account, data, onSent })
  const { transactionHash: txHash } = receipt
  return { txHash, state: await readSlot(connectEvm(rpcUrl), op), credited: isCredited(receipt, op) }
}

type Call = { op: RefundableOp; account: PrivateKeyAccount; data: Hex; onSent(txHash: Hex): void }

/** Sends a call to the op's escrow and waits for its block. */
async function callEscrow(rpcUrl: string, { op, account, data, onSent }: Call): Promise<TransactionReceipt> {
  const sender = createWalletClient({ account, transport: http(rpcUrl) })
  const hash = await sender.sendTransaction({ to: op.origin.escrow, data, gas: REFUND_GAS, chain: null })
  onSent(hash)
  return connectEvm(rpcUrl).waitForTransactionReceipt({ hash, timeout: INCLUSION_TIMEOUT_MS })
}

function isCredited({ logs }: TransactionReceipt, { origin, wallet }: RefundableOp): boolean {
  return logs
    .filter(({ address }) => isAddressEqual(address, origin.escrow))
    .map((log) => decodeEventLog({ abi: geoEscrowAbi, data: log.data, topics: log.topics }))
    .some(({ eventName, args }) => eventName === 'Credited' && isAddressEqual(args.owner, wallet))
}

type Lying = { token: Address; amount: bigint }

/** The op's own address, and what lies there of its input token, the native coin and other tokens. */
export async function readOpAddress(
  rpcUrl: string,
  op: RefundableOp,
  others: readonly string[],
): Promise<{ address: Address; lying: Lying[] }> {
  const client = connectEvm(rpcUrl)
  const address = depositAddressOf(op.origin.escrow, op.hash)
  const tokens = [...new Set([op.token, zeroAddress, ...(others as Address[])])]
  const held = await Promise.all(
    tokens.map(async (token) => {
      const call = { address: token, abi: erc20Abi, functionName: 'balanceOf', args: [address] } as const
      const amount = await (token === zeroAddress
        ? client.getBalance({ address })
        : client.readContract(call))
      return { token, amount }
    }),
  )
  return { address, lying: held.filter(({ amount }) => amount > 0n) }
}

type Recovery = { op: RefundableOp; token: Address; account: PrivateKeyAccount; onSent(txHash: Hex): void }

/**
 * Sends what lies of a token at the op's address to its wallet. Returns what left: 0 if the call had no effect.
 * `credited`: the wallet was refused it, and can withdraw it from the escrow.
 */
export async function sendRecover(
  rpcUrl: string,
  { op, token, account, onSent }: Recovery,
): Promise<{ txHash: Hex; amount: bigint; credited: boolean }> {
  const args = [op.locker, op.argument, token] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'recover', args })
  const receipt = await callEscrow(rpcUrl, { op, account, data, onSent })
  const { logs, transactionHash: txHash } = receipt
  const events = parseEventLogs({ abi: geoEscrowAbi, logs, eventName: 'Recovered' })
  const own = events.filter(({ args: { op: hash } }) => hash === op.hash)
  const amount = own.reduce((sum, { args }) => sum + args.amount, 0n)
  return { txHash, amount, credited: isCredited(receipt, op) }
}
