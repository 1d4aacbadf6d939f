import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, expect, inject, test } from 'vitest'
import { createOperator } from '../operator.ts'
import { prepareSolana } from '../solana-orders.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, prepare, stageOf, submitSwap, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { api, alpha, beta } = world
const solana = await createSolanaWorld(local)
const operator = createOperator(inject('databaseUrl'))

const USDC = 1_000_000n
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }

afterEach(() => alpha.resume())

/** Somebody who can write the database has the output paid to another. Returns who that is, and undoes it. */
async function changeRecipient(): Promise<{ thief: `0x${string}`; undo(): Promise<unknown> }> {
  const thief = privateKeyToAddress(generatePrivateKey())
  const [op] = await operator.query<{ id: string; recipient: string }>(
    'select id, recipient from ops order by built_at desc limit 1',
  )
  if (!op) throw new Error('Nothing was built')
  const set = (recipient: string) =>
    operator.query('update ops set recipient = $2 where id = $1', [op.id, recipient])
  await set(thief)
  return { thief, undo: () => set(op.recipient) }
}

/** Waits until the worker has seen that the wallet did not sign the stored terms. */
const untilStopped = (swapId: string) =>
  until(async () => {
    const [swap] = await operator.query<{ is_unsigned: boolean }>(
      'select is_unsigned from swaps where id = $1',
      [swapId],
    )
    return swap?.is_unsigned
  })

test('a recipient that is changed between build and submission is not paid, nor is the input taken', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const { submission } = await prepare(world, wallet, order)
  const { thief, undo } = await changeRecipient()

  const { body } = await api.submit(submission)
  await untilStopped(body.swapId)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(10n * USDC)

  await undo()
  expect((await outcomeOf(world, body.swapId)).status).toBe('settled')
  expect(await beta.balanceOf(thief, 'USDC')).toBe(0n)
})

test('a recipient that is changed between lock and delivery is not paid', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  await alpha.halt()
  const { swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()
  const { thief, undo } = await changeRecipient()

  await alpha.resume()
  await untilStopped(swapId)
  expect((await api.status(swapId, 0)).body.status).toBe('pending')

  await undo()
  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  expect(await beta.balanceOf(thief, 'USDC')).toBe(0n)
})

test('an input from Solana is not taken for another recipient than its wallet signed for', async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const recipient = privateKeyToAddress(generatePrivateKey())
  const fromSolana = { sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC, recipient }
  const { submission } = await prepareSolana({ api, solana }, wallet, fromSolana)
  const { thief, undo } = await changeRecipient()

  const { body } = await api.submitSolana(submission)
  await untilStopped(body.swapId)
  expect(await solana.balanceOf(wallet.address, solana.token('USDC'))).toBe(10n * USDC)

  await undo()
  expect((await outcomeOf(world, body.swapId)).status).toBe('settled')
  expect(await beta.balanceOf(thief, 'USDC')).toBe(0n)
})
