import { geoEscrowAbi, hashEscrowOp, readRefundableOp, toIndex } from '@geoswap/protocol'
import { type Address, concat, encodeFunctionData, type Hex, pad } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeAll, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient } from '../checked-client.ts'
import { setCode } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import {
  ACCEPTS,
  CALLER,
  callOf,
  recipientCodes,
  signatureForCode,
  transferOf,
  walletCodes,
} from '../strangers.ts'
import { buildBy, passDeadline, pay, submitBy } from '../ways.ts'
import { createWorld, type Order, outcomeOf, submitSwap, toRequest, until } from '../world.ts'

// Strangers write on the chains what they like. Others' swaps go on, and the operator's loss is bounded.

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const operator = createOperator(inject('databaseUrl'))
const USDC = 1_000_000n
const AMOUNT = 10n * USDC
const order: Order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: AMOUNT }
const { escrow } = alpha.contracts

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
})
afterEach(async () => {
  await Promise.all([alpha.resume(), beta.resume()])
})

const newWallet = () => privateKeyToAccount(generatePrivateKey())

async function stateOf(swapId: string) {
  const [row] = await operator.query<{ state: string }>('select state from swaps where id = $1', [swapId])
  return row?.state
}

/** Until its input is in the vault for good. */
const claimed = (swapId: string) => until(async () => (await stateOf(swapId)) === 'closed')

async function triesOf(swapId: string, role: string): Promise<number> {
  const [row] = await operator.query<{ tries: number }>(
    `select count(distinct a.nonce)::int as tries
       from tx_attempts a join attempt_swaps s on s.attempt_id = a.id
      where s.swap_id = $1 and s.role = $2`,
    [swapId, role],
  )
  return row?.tries ?? 0
}

async function submitHonest(): Promise<string> {
  const wallet = await world.walletWith(alpha, 'USDC', AMOUNT)
  return (await submitSwap({ api }, wallet, order)).swapId
}

async function expectHonestSwap(): Promise<void> {
  const swapId = await submitHonest()
  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
  await claimed(swapId)
}

/** A built swap of a contract wallet, with an authorization that its code accepts. */
async function prepareContract() {
  const wallet = newWallet().address
  await setCode(alpha, wallet, ACCEPTS)
  await world.fund(alpha, wallet, 'USDC', AMOUNT)
  const recipient = newWallet().address
  const asked = { order: { ...order, recipient }, method: 'authorization' as const }
  const { build } = await buildBy({ api }, { address: wallet }, asked)
  return { wallet, submission: { geoOpToken: build.geoOpToken, signature: signatureForCode(build) } }
}

async function holdLocks(): Promise<void> {
  await beta.halt()
  await until(async () => (await api.quote(toRequest(newWallet(), order))).status === 503)
}

/** A contract that makes several calls in one transaction, and holds USDC. */
async function callerWith(amount: bigint) {
  const payer = await world.walletWith(alpha, 'USDC', amount)
  const address = newWallet().address
  await setCode(alpha, address, CALLER)
  await pay(alpha, payer.address, { to: address, symbol: 'USDC', amount })
  const send = async (...calls: Hex[]) => {
    const hash = await alpha.as(payer.address, { to: address, data: concat(calls) })
    const { logs } = await alpha.client.waitForTransactionReceipt({ hash })
    return logs.filter((log) => log.address.toLowerCase() === escrow.toLowerCase())
  }
  return { address, send }
}

test('an op whose deposit goes back twice in one transaction stops nobody', async () => {
  const { build, swapId } = await submitBy({ api }, newWallet(), { order, method: 'deposit' })
  await passDeadline(alpha, build)
  await outcomeOf({ api }, swapId)
  const { locker, argument } = readRefundableOp(build.operation)
  const args = [locker, argument, alpha.token('USDC')] as const
  const recover = callOf(escrow, encodeFunctionData({ abi: geoEscrowAbi, functionName: 'recover', args }))
  const give = transferOf(alpha.token('USDC'), build.depositAddress as Address, 1n)
  const { send } = await callerWith(AMOUNT)

  const events = await send(give, recover, give, recover)

  expect(events).toHaveLength(2)
  await expectHonestSwap()
})

test("a stranger's own op, locked and taken back by a contract, stops no quotes of its token", async () => {
  const { address: locker, send } = await callerWith(AMOUNT)
  const { timestamp } = await alpha.client.getBlock()
  const op = {
    ...{ wallet: newWallet().address, inputToken: alpha.token('USDC'), inputAmount: AMOUNT },
    ...{ index: toIndex({ round: 1n, position: 0n }), delivery: pad('0x01', { size: 32 }) },
    ...{ opDeadline: timestamp + 60n, refundDeadline: timestamp + 61n },
  }
  const hash = hashEscrowOp({ chainId: alpha.chainId, escrow }, { ...op, locker })
  const to = await alpha.client.readContract({
    ...{ address: escrow, abi: geoEscrowAbi, functionName: 'depositAddress', args: [hash] },
  })
  const lock = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockDeposited', args: [op] })
  const refund = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args: [locker, op] })

  expect(await send(transferOf(alpha.token('USDC'), to, AMOUNT), callOf(escrow, lock))).toHaveLength(1)
  await alpha.advance(62)
  expect(await send(callOf(escrow, refund))).not.toHaveLength(0)

  await expectHonestSwap()
  const { body } = await api.quote(toRequest(newWallet(), order))
  expect(body.code).toBeUndefined()
})

test('contract wallets that change before their lock are locked at most once each, and stop nobody', async () => {
  const prepared = await Promise.all(
    Object.values(walletCodes).map(async (code) => ({ code, ...(await prepareContract()) })),
  )
  // Nothing is locked while the destination stands still.
  await holdLocks()
  const replies = await Promise.all(prepared.map(({ submission }) => api.submit(submission)))
  for (const { wallet, code } of prepared) await setCode(alpha, wallet, code)
  await beta.resume()

  await expectHonestSwap()
  for (const { status, body } of replies) {
    expect(status).toBe(200)
    expect(['failed', 'settled']).toContain((await outcomeOf({ api }, body.swapId)).status)
    expect(await triesOf(body.swapId, 'lock')).toBeLessThanOrEqual(1)
  }
})

test('a recipient that takes coins only in some blocks gets at most three deliveries', async () => {
  const recipient = newWallet().address
  await setCode(beta, recipient, recipientCodes.takesInEverySecondBlock)
  const wallet = await world.walletWith(alpha, 'USDC', AMOUNT)
  const { swapId } = await submitSwap({ api }, wallet, { ...order, buy: 'ETH', recipient })

  const { status } = await outcomeOf({ api }, swapId)

  expect(['settled', 'refunded', 'failed']).toContain(status)
  expect(await triesOf(swapId, 'deliver')).toBeLessThanOrEqual(3)
  await expectHonestSwap()
})
