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

/**
 * An attacker with write access to the database redirects the output. Returns the attacker's address, and a
 * function that undoes the change.
 */
async function changeRecipient(): Promise<{ attacker: `0x${string}`; undo(): Promise<unknown> }> {
  const attacker = privateKeyToAddress(generatePrivateKey())
  const [op] = await operator.query<{ id: string; recipient: string }>(
    'select id, recipient from ops order by built_at desc limit 1',
  )
  if (!op) throw new Error('Nothing was built')
  const set = (recipient: string) =>
    operator.query('update ops set recipient = $2 where id = $1', [op.id, recipient])
  await set(attacker)
  return { attacker, undo: () => set(op.recipient) }
}

/** Waits until the worker has found that the stored terms are not the signed ones. */
const untilStopped = (swapId: string) =>
  until(async () => {
    const [swap] = await operator.query<{ is_unsigned: boolean }>(
      'select is_unsigned from swaps where id = $1',
      [swapId],
    )
    return swap?.is_unsigned
  })

test('a recipient changed between build and submission is not paid, and the input is not taken', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const { submission } = await prepare(world, wallet, order)
  const { attacker, undo } = await changeRecipient()

  const { body } = await api.submit(submission)
  await untilStopped(body.swapId)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(10n * USDC)

  await undo()
  expect((await outcomeOf(world, body.swapId)).status).toBe('settled')
  expect(await beta.balanceOf(attacker, 'USDC')).toBe(0n)
})

test('a recipient changed between lock and delivery is not paid', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  await alpha.halt()
  const { swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()
  const { attacker, undo } = await changeRecipient()

  await alpha.resume()
  await untilStopped(swapId)
  expect((await api.status(swapId, 0)).body.status).toBe('pending')

  await undo()
  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  expect(await beta.balanceOf(attacker, 'USDC')).toBe(0n)
})

test('an input from Solana is not taken for a recipient that its wallet did not sign', async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const recipient = privateKeyToAddress(generatePrivateKey())
  const fromSolana = { sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC, recipient }
  const { submission } = await prepareSolana({ api, solana }, wallet, fromSolana)
  const { attacker, undo } = await changeRecipient()

  const { body } = await api.submitSolana(submission)
  await untilStopped(body.swapId)
  expect(await solana.balanceOf(wallet.address, solana.token('USDC'))).toBe(10n * USDC)

  await undo()
  expect((await outcomeOf(world, body.swapId)).status).toBe('settled')
  expect(await beta.balanceOf(attacker, 'USDC')).toBe(0n)
})
