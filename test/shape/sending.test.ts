import pg from 'pg'
import { createWalletClient, http, type PrivateKeyAccount, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { createWorld, type Order, prepare, submitSwap, until } from '../world.ts'
import { createControls } from './controls.ts'

const local = inject('local')
const world = createWorld(local)
const controls = createControls(local)
const database = new pg.Pool({ connectionString: inject('databaseUrl'), max: 2 })
const AMOUNT = 20_000_000n

beforeAll(async () => {
  // The contracts are then older than the final blocks.
  await controls.advanceAll(45 * 60)
})
afterEach(() => controls.setL1Price('arbitrum', 1))
afterAll(() => database.end())

const orderFrom = (from: string, to: string): Order => ({
  from: world.chainNamed(from),
  sell: 'USDC',
  to: world.chainNamed(to),
  buy: 'USDC',
  amount: AMOUNT,
})

type Sent = { role: string; refusal: string | null; sender: string }

/** The transactions signed with the nonces of a swap's locks. */
async function locksOf(swapId: string): Promise<Sent[]> {
  const { rows } = await database.query<Sent>(
    `select n.role, n.refusal, n.sender from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
       join tx_attempts n on n.chain_id = a.chain_id and n.sender = a.sender and n.nonce = a.nonce
      where l.swap_id = $1 and l.role = 'lock' order by n.nonce, n.replacement`,
    [swapId],
  )
  return rows
}

/** Waits until the input has left its wallet. */
const untilTaken = (wallet: PrivateKeyAccount, from: string) =>
  until(async () => (await world.chainNamed(from).balanceOf(wallet.address, 'USDC')) === 0n, 60_000)

/** Two transactions of the wallet behind a nonce gap: no node shows them as pending. */
async function queueTwo(wallet: PrivateKeyAccount, name: string): Promise<void> {
  const chain = world.chainNamed(name)
  const rpcUrl = local.chains.find((each) => each.name === name)?.rpcUrl ?? ''
  await world.fund(chain, wallet.address, 'ETH', parseEther('1'))
  const client = createWalletClient({ account: wallet, transport: http(rpcUrl) })
  const fees = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n, gas: 1_000_000n }
  for (const nonce of [5, 6]) {
    const call = { ...fees, nonce, to: wallet.address, chainId: chain.chainId, type: 'eip1559' as const }
    await client.sendRawTransaction({ serializedTransaction: await wallet.signTransaction(call) })
  }
}

test('a wallet with queued transactions does not block the first locks of others', async () => {
  const wallets = await Promise.all(
    [0, 1, 2, 3].map(() => world.walletWith(world.chainNamed('base'), 'USDC', AMOUNT)),
  )
  const [griefer, ...others] = wallets as [PrivateKeyAccount, ...PrivateKeyAccount[]]
  await queueTwo(griefer, 'base')

  const refused = await submitSwap(world, griefer, orderFrom('base', 'arbitrum'))
  const swaps = await Promise.all(
    others.map((wallet) => submitSwap(world, wallet, orderFrom('base', 'arbitrum'))),
  )

  for (const wallet of others) await untilTaken(wallet, 'base')
  const burnt = await until(async () => {
    const sent = await locksOf(refused.swapId)
    return sent.some(({ role }) => role === 'noop') && sent
  })
  expect(burnt[0]).toMatchObject({ role: 'lock', refusal: 'authority' })
  for (const { swapId } of swaps)
    expect(await locksOf(swapId)).toMatchObject([{ role: 'lock', refusal: null }])
})

test('an input on Arbitrum is locked while bytes cost ten times as much', async () => {
  const wallet = await world.walletWith(world.chainNamed('arbitrum'), 'USDC', AMOUNT)
  await controls.setL1Price('arbitrum', 10)

  await submitSwap(world, wallet, orderFrom('arbitrum', 'base'))

  await untilTaken(wallet, 'arbitrum')
})

test('an input quoted before bytes cost ten times as much is locked afterwards', async () => {
  const wallet = await world.walletWith(world.chainNamed('arbitrum'), 'USDC', AMOUNT)

  const { submission } = await prepare(world, wallet, orderFrom('arbitrum', 'base'))
  await controls.setL1Price('arbitrum', 10)
  const { status } = await world.api.submit(submission)

  expect(status).toBe(200)
  await untilTaken(wallet, 'arbitrum')
})
