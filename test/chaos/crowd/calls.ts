import {
  authorizationOf,
  depositAddressOf,
  type EscrowOp,
  geoEscrowAbi,
  hashEscrowOp,
  receiveTypes,
  signedTokenAbi,
  toIndex,
} from '@geoswap/protocol'
import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  toHex,
  zeroAddress,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { lockBehindPointers } from '../../../packages/service/test/support/pointers.ts'
import { setCode } from '../../instant-wallet.ts'
import { patience } from '../../patience.ts'
import { callOf, transferOf, walletCodes } from '../../strangers.ts'
import { pay } from '../../ways.ts'
import { until, type WorldChain } from '../../world.ts'
import { amountOf } from '../clients/scene.ts'
import { type Acting, addressOf, type Opened, openSwap, opOf, untilLocked } from './act.ts'
import type { CrowdKind } from './kinds.ts'
import { callFrom, untilMined } from './purses.ts'

// Calls and transfers that anyone may make, to our contracts and beside them.

const POINTERS = 900
const POINTERS_GAS = 16_000_000n
const OP_SECONDS = 6n
const REFUND_MS = 90_000
// Longer than the life of an op.
const DEPOSIT_MS = 180_000 * patience
const ONE = 1n
const SENDER = '0x0000000000000000000000000000000000000014'

/** An op of strangers, which its locker can refund after some seconds. */
async function opBy({ chain }: Acting, terms: Pick<EscrowOp, 'locker' | 'wallet' | 'inputAmount'>) {
  const { timestamp } = await chain.client.getBlock()
  const index = toIndex({ round: timestamp, position: BigInt(keccak256(privateBytes())) % 1_000_000n })
  const op: EscrowOp = {
    ...{ ...terms, inputToken: chain.token('USDC'), index, delivery: pad('0x01', { size: 32 }) },
    ...{ opDeadline: timestamp + OP_SECONDS, refundDeadline: timestamp + OP_SECONDS + 1n },
  }
  const { escrow } = chain.contracts
  const hash = hashEscrowOp({ chainId: chain.chainId, escrow }, op)
  return { op, hash, address: depositAddressOf(escrow, hash) }
}
const privateBytes = () => generatePrivateKey()

const escrowCall = (functionName: 'lockDeposited' | 'refund' | 'recover', args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: geoEscrowAbi, functionName, args } as never)

const toEscrow = ({ chain }: Acting, ...asked: Parameters<typeof escrowCall>) =>
  callOf(chain.contracts.escrow, escrowCall(...asked))

function mustEmit(
  { logs }: { logs: readonly { address: string }[] },
  chain: WorldChain,
  count: number,
): void {
  const found = logs.filter(({ address }) => address.toLowerCase() === chain.contracts.escrow.toLowerCase())
  if (found.length < count) throw new Error(`The escrow emitted ${found.length} events, not ${count}`)
}

/** A contract locks its own op and takes it back. */
async function lockOwn(acting: Acting, inputAmount: bigint): Promise<void> {
  const { chain, purse } = acting
  const { op, address } = await opBy(acting, { locker: purse.address, wallet: purse.address, inputAmount })
  const pays = inputAmount > 0n ? [transferOf(op.inputToken, address, inputAmount)] : []
  const locked = await callFrom(chain, purse, ...pays, toEscrow(acting, 'lockDeposited', [op]))
  mustEmit(locked, chain, 1)
  await refundOwn(acting, op)
}

async function refundOwn(acting: Acting, { locker, ...op }: EscrowOp): Promise<void> {
  const { chain, purse } = acting
  await until(async () => (await chain.client.getBlock()).timestamp > op.refundDeadline, REFUND_MS)
  mustEmit(await callFrom(chain, purse, toEscrow(acting, 'refund', [locker, op])), chain, 1)
}

/** A batch of many entries that all point to one op, with a valid signature. */
async function pointMany(acting: Acting): Promise<void> {
  const { chain, purse } = acting
  const wallet = privateKeyToAccount(generatePrivateKey())
  const token = chain.token('USDC')
  await callFrom(chain, purse, transferOf(token, wallet.address, ONE))
  const locker = privateKeyToAddress(generatePrivateKey())
  const { op, hash } = await opBy(acting, { locker, wallet: wallet.address, inputAmount: ONE })
  const described = { address: token, abi: signedTokenAbi, functionName: 'eip712Domain' } as const
  const [, name, version] = await chain.client.readContract(described)
  const { escrow } = chain.contracts
  const signature = await wallet.signTypedData({
    domain: { name, version, chainId: chain.chainId, verifyingContract: token },
    ...{ types: receiveTypes, primaryType: 'ReceiveWithAuthorization' },
    message: authorizationOf({ escrow }, hash, op),
  })
  const { locker: _, ...terms } = op
  const data = lockBehindPointers(terms, { signature, entries: POINTERS })
  mustEmit(await untilMined(chain, await chain.as(locker, { to: escrow, data, gas: POINTERS_GAS })), chain, 1)
  await refundOwn(acting, op)
}

const EVENTS = parseAbi([
  'event Locked(bytes32 indexed op)',
  'event Refunded(bytes32 indexed op)',
  'event Claimed(bytes32 indexed op)',
  'event Delivered(bytes32 indexed delivery, uint256 amount)',
])
const topics = EVENTS.map(({ name, inputs }) =>
  keccak256(toHex(`${name}(${inputs.map(({ type }) => type).join()})`)),
)

/** Another contract emits the events of a swap that goes on, each twice in one transaction. */
async function emitFalsely({ chain, purse, field }: Acting): Promise<void> {
  const newest =
    'select o.hash, o.delivery_hash from swaps s join ops o on o.id = s.op_id order by s.id desc limit 1'
  const [swap] = (await field.pool.query<{ hash: Hex; delivery_hash: Hex }>(newest)).rows
  if (!swap) throw new Error('There is no swap yet')
  const amount = numberToHex(10n ** 18n, { size: 32 })
  const lies = topics.flatMap((topic) => [
    callOf(purse.emitter, concat([topic, swap.hash, amount])),
    callOf(purse.emitter, concat([topic, swap.delivery_hash, amount])),
  ])
  const { logs } = await callFrom(chain, purse, ...lies, ...lies)
  if (logs.length < 2 * lies.length) throw new Error(`Only ${logs.length} events were emitted`)
}

/** A deposit swap is locked, and its address is emptied twice in one transaction. */
async function recoverTwice(acting: Acting): Promise<void> {
  const { chain, purse } = acting
  const opened = await openSwap(acting)
  await payInput(acting, addressOf(opened))
  if (!(await untilLocked(acting, opened, DEPOSIT_MS))) throw new Error('The deposit was not locked')
  const { locker, argument } = opOf(opened)
  const token = chain.token('USDC')
  const give = transferOf(token, addressOf(opened), ONE)
  const recover = toEscrow(acting, 'recover', [locker, argument, token])
  const emptied = await callFrom(chain, purse, give, recover, give, recover)
  noteOwn(acting, opened, { amount: 2n * ONE, txHash: emptied.transactionHash })
  mustEmit(emptied, chain, 2)
}

/** Strangers give to their own op. */
function noteOwn(
  { chain, act, note }: Acting,
  opened: Opened,
  gift: { amount: bigint; txHash: string },
): void {
  const to = addressOf(opened)
  note({ ...gift, chain: act.chain, to, token: chain.token('USDC'), client: opened.party.plan.id })
}

async function payInput({ chain, party }: Acting, to: Address): Promise<void> {
  if (!party?.payer) throw new Error('Nobody pays this deposit')
  const { sell } = party.plan
  await untilMined(chain, await pay(chain, party.payer, { to, symbol: sell, amount: amountOf(party.plan) }))
}

const mintable = parseAbi(['function mint(address to, uint256 amount)'])
const JUNK = 10n ** 24n

/** Money and junk go to the escrow, the vault, the act's own op and the ops of others. Then the junk turns hostile. */
async function depositEverywhere(acting: Acting): Promise<void> {
  const { chain, purse, field, act, note } = acting
  const opened = await openSwap(acting)
  await payInput(acting, addressOf(opened))
  const { escrow, vault } = chain.contracts
  const token = chain.token('USDC')
  const others = [...field.opAddresses].flatMap(([address, name]) => (name === act.chain ? address : []))
  const mint = (to: Address) =>
    callOf(purse.junk, encodeFunctionData({ abi: mintable, functionName: 'mint', args: [to, JUNK] }))
  const everywhere = [escrow, vault, addressOf(opened), ...others.slice(0, 10)]
  const given = [escrow, vault, addressOf(opened)].map((to) => transferOf(token, to, ONE))
  const { transactionHash: txHash } = await callFrom(chain, purse, ...given, ...everywhere.map(mint))
  noteOwn(acting, opened, { amount: ONE, txHash })
  for (const to of [escrow, vault]) note({ chain: act.chain, to, token, amount: ONE, txHash })
  const coins = await untilMined(chain, await chain.as(SENDER, { to: escrow, value: ONE }))
  const coin = { chain: act.chain, to: escrow, token: zeroAddress, amount: ONE }
  note({ ...coin, txHash: coins.transactionHash })
  await setCode(chain, purse.junk, act.isLate ? walletCodes.burnsAllGas : walletCodes.answersMegabytes)
}

export const callActs: Partial<Record<CrowdKind, (acting: Acting) => Promise<void>>> = {
  pointers: pointMany,
  falseEvents: emitFalsely,
  twoRecovers: recoverTwice,
  ownOp: (acting) => lockOwn(acting, ONE),
  zeroLock: (acting) => lockOwn(acting, 0n),
  strayDeposits: depositEverywhere,
}
