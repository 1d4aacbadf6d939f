import { hashStruct, pad } from 'viem'
import { expect, test } from 'vitest'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import * as evm from '../scripts/chain.ts'
import { callVault, readVault } from './calls.ts'
import { vaultBytecode } from './code.ts'
import { isolate } from './isolate.ts'
import { claim, createSwap, deliver, indexOf, lock, opTypes, ringOf, type Terms, toDelivery } from './op.ts'
import {
  attester,
  createWallet,
  createWorld,
  deployTest,
  HOUR,
  listToken,
  mint,
  NATIVE,
  readBalance,
  readEvents,
  UNLIMITED,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
isolate(world)

const createOrder = (terms: Terms = {}) => createSwap(world, wallet, terms)
const setCap = (limit: bigint, token = world.token) =>
  callVault(world, world.treasury, 'setCap', [token, limit])

/** Moves to the first second of the next hour, so that a test has a full one. */
async function startHour(): Promise<void> {
  await evm.setNextTime(world.chain, ((await evm.readTime(world.chain)) / HOUR + 1n) * HOUR)
  await evm.ask(world.chain, 'evm_mine')
}

test('a delivery pays the recipient and logs the hash that the wallet signed', async () => {
  const swap = await createOrder({ amountOut: 95n })

  const receipt = await deliver(world, swap)

  expect(await readBalance(world, world.token, swap.fill.recipient)).toBe(95n)
  expect(readEvents(world, receipt)).toMatchObject([
    { name: 'Delivered', id: swap.op.delivery, args: { amount: 95n } },
  ])
  expect(await readVault(world, 'hashDelivery', [swap.ring, world.token, swap.fill])).toBe(swap.op.delivery)
})

test('a native delivery pays the recipient', async () => {
  const swap = await createOrder({ outputToken: NATIVE })

  await deliver(world, swap)

  expect(await readBalance(world, NATIVE, swap.fill.recipient)).toBe(90n)
})

test('the logged hash names this chain and this vault', async () => {
  const swap = await createOrder()
  const signed = toDelivery(world, swap.ring, world.token, swap.fill)
  const hash = (changes: object) =>
    hashStruct({ data: { ...signed, ...changes }, types: opTypes, primaryType: 'Delivery' })
  const logged = readEvents(world, await deliver(world, swap))[0]?.id

  expect(logged).toBe(hash({}))
  expect(logged).not.toBe(hash({ destinationChain: signed.destinationChain + 1n }))
  expect(logged).not.toBe(hash({ vault: pad(world.escrow) }))
  expect(logged).not.toBe(hash({ minOutput: signed.minOutput - 1n }))
})

test('nothing is delivered twice', async () => {
  const swap = await createOrder()
  await deliver(world, swap)

  await expect(deliver(world, swap)).rejects.toThrow('AlreadyDelivered')
  const other = await createOrder({ minOutput: 1n, recipient: world.stranger })
  await expect(deliver(world, other)).rejects.toThrow('AlreadyDelivered')
  expect(await readBalance(world, world.token, swap.fill.recipient)).toBe(90n)
})

test('a position delivers its rounds in rising order only', async () => {
  await deliver(world, await createOrder({ index: indexOf(5, 11) }))

  await expect(deliver(world, await createOrder({ index: indexOf(4, 11) }))).rejects.toThrow(
    'AlreadyDelivered',
  )
  await deliver(world, await createOrder({ index: indexOf(6, 11) }))
  await deliver(world, await createOrder({ index: indexOf(2 ** 32 - 1, 11) }))
  const { ring } = await createOrder()
  expect(await readVault(world, 'lastRound', [ring, 11n])).toBe(2n ** 32n - 1n)
  expect(await readVault(world, 'lastRound', [ring, 2n ** 32n - 1n])).toBe(0n)
  await expect(readVault(world, 'lastRound', [ring, 2n ** 32n])).rejects.toThrow('IndexOutOfRange')
})

test('the eight positions of a word are independent', async () => {
  for (let position = 16; position < 24; position++) {
    await deliver(world, await createOrder({ index: indexOf(position, position) }))
  }

  const { ring } = await createOrder()
  const positions = Array.from({ length: 10 }, (_, i) => BigInt(15 + i))
  const rounds = await readVault(world, 'lastRounds', [positions.map(() => ring), positions])
  expect(rounds).toEqual([0n, 16n, 17n, 18n, 19n, 20n, 21n, 22n, 23n, 0n])
})

test('round 0 and an index of more than 64 bits are refused', async () => {
  await expect(deliver(world, await createOrder({ index: indexOf(0, 4) }))).rejects.toThrow(
    'AlreadyDelivered',
  )
  await expect(deliver(world, await createOrder({ index: 2n ** 64n + indexOf(1, 4) }))).rejects.toThrow(
    'IndexOutOfRange',
  )
  await expect(readVault(world, 'lastRound', [`0x${'00'.repeat(32)}`, 2n ** 32n])).rejects.toThrow(
    'IndexOutOfRange',
  )
})

test('the same index of another chain, escrow or locker is another delivery', async () => {
  const swap = await createOrder()
  await deliver(world, swap)

  const rings = [
    ringOf(world.chain.id + 1, world.escrow, world.locker),
    ringOf(world.chain.id, world.vault, world.locker),
    ringOf(world.chain.id, world.escrow, world.secondLocker),
  ]
  for (const ring of rings) await deliver(world, { ...swap, ring })

  expect(await readBalance(world, world.token, swap.fill.recipient)).toBe(360n)
})

test.each([
  [-1n, undefined],
  [0n, undefined],
  [1n, 'Late'],
])('a delivery %i s from its fillDeadline gives %s', async (offset, error) => {
  const swap = await createOrder()
  await evm.setNextTime(world.chain, swap.fill.fillDeadline + offset)

  if (error) await expect(deliver(world, swap)).rejects.toThrow(error)
  else await deliver(world, swap)
})

test('less than the signed minimum is refused', async () => {
  await expect(deliver(world, await createOrder({ amountOut: 89n }))).rejects.toThrow('BelowMinimum')
})

test('the zero address, the token, the vault itself and its escrow cannot be paid', async () => {
  for (const recipient of [NATIVE, world.token, world.vault, world.escrow]) {
    await expect(deliver(world, await createOrder({ recipient }))).rejects.toThrow('BadRecipient')
  }
  for (const recipient of [world.vault, world.escrow]) {
    const native = { outputToken: NATIVE, recipient }
    await expect(deliver(world, await createOrder(native))).rejects.toThrow('BadRecipient')
  }
})

test('only deliverer keys can deliver, and the treasury revokes each', async () => {
  const swap = await createOrder()
  const { stranger, treasury, deliverer } = world

  await expect(deliver(world, swap, { from: stranger })).rejects.toThrow('NotDeliverer')
  await expect(deliver(world, swap, { from: treasury })).rejects.toThrow('NotDeliverer')
  await callVault(world, treasury, 'setDeliverer', [stranger, true])
  await callVault(world, treasury, 'setDeliverer', [deliverer, false])
  await expect(deliver(world, swap)).rejects.toThrow('NotDeliverer')
  await deliver(world, swap, { from: stranger })
  expect(await readVault(world, 'deliverers', [deliverer])).toBe(false)
})

test.each(['RefusingReceiver', 'BurningReceiver'])(
  'a native delivery to a %s fails and costs little',
  async (name) => {
    const swap = await createOrder({ outputToken: NATIVE, recipient: await deployTest(world, name) })

    await expect(deliver(world, swap, { gas: 150_000n })).rejects.toThrow('PaymentRefused')
    expect(await readVault(world, 'lastRound', [swap.ring, 0n])).toBe(0n)
  },
)

test('a recipient of native coin may use 40,000 gas', async () => {
  const recipient = await deployTest(world, 'DemandingReceiver')

  await deliver(world, await createOrder({ outputToken: NATIVE, recipient }))

  expect(await readBalance(world, NATIVE, recipient)).toBe(90n)
})

test('a token without a cap cannot be delivered', async () => {
  await setCap(0n)
  await expect(deliver(world, await createOrder())).rejects.toThrow('CapReached')
})

test('a stolen deliverer key takes at most the cap of each hour', async () => {
  await setCap(250n)
  await startHour()
  await deliver(world, await createOrder({ index: indexOf(1, 0) }))
  await deliver(world, await createOrder({ index: indexOf(1, 1) }))

  await expect(deliver(world, await createOrder({ index: indexOf(1, 2) }))).rejects.toThrow('CapReached')
  expect(await readVault(world, 'caps', [world.token])).toEqual([250n, 180n])
  await deliver(world, await createOrder({ index: indexOf(1, 3), minOutput: 70n }))
  await startHour()
  await deliver(world, await createOrder({ index: indexOf(1, 2) }))
  expect(await readVault(world, 'caps', [world.token])).toEqual([250n, 90n])
})

test('a new cap keeps the amount spent this hour', async () => {
  await startHour()
  await deliver(world, await createOrder())

  await setCap(100n)

  expect(await readVault(world, 'caps', [world.token])).toEqual([100n, 90n])
  await setCap(80n)
  await expect(deliver(world, await createOrder({ index: indexOf(1, 1), minOutput: 1n }))).rejects.toThrow(
    'CapReached',
  )
})

test('a new cap does not bring back what an earlier hour spent', async () => {
  await startHour()
  await deliver(world, await createOrder())
  await startHour()

  await setCap(100n)

  expect(await readVault(world, 'caps', [world.token])).toEqual([100n, 0n])
  await deliver(world, await createOrder({ index: indexOf(1, 1) }))
})

test('a cap of more than 112 bits is refused, not truncated', async () => {
  await expect(setCap(UNLIMITED + 1n)).rejects.toThrow('CapTooLarge')
  await expect(setCap(2n ** 256n - 1n)).rejects.toThrow('CapTooLarge')
  await setCap(UNLIMITED)
})

test('only the treasury changes keys, adapters and caps, and withdraws inventory', async () => {
  const { deliverer: from, token, stranger } = world

  await expect(callVault(world, from, 'setDeliverer', [stranger, true])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, from, 'setAdapter', [stranger, true])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, from, 'setCap', [token, 1n])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, from, 'withdraw', [token, from, 1n])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, from, 'collectCredit', [world.escrow, token])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, from, 'setGuardian', [from])).rejects.toThrow('NotTreasury')
})

test('the treasury withdraws tokens and coins', async () => {
  const to = `0x${'7a'.repeat(20)}` as const

  await callVault(world, world.treasury, 'withdraw', [world.token, to, 12n])
  await callVault(world, world.treasury, 'withdraw', [NATIVE, to, 13n])

  expect(await readBalance(world, world.token, to)).toBe(12n)
  expect(await readBalance(world, NATIVE, to)).toBe(13n)
  await expect(callVault(world, world.treasury, 'withdraw', [NATIVE, NATIVE, 1n])).rejects.toThrow(
    'BadRecipient',
  )
})

test("a second vault's delivery is no proof of what was signed for the first", async () => {
  const code = { abi: geoVaultAbi, bytecode: vaultBytecode }
  const vault = await evm.deploy(world.chain, code, [world.treasury, [attester.address], 1n])
  const second = { ...world, vault }
  await callVault(second, world.treasury, 'setDeliverer', [world.deliverer, true])
  await listToken(second, world.token)
  const swap = await createOrder()
  await lock(world, swap)
  await deliver(world, swap)

  const [event] = readEvents(second, await deliver(second, swap))

  expect(event?.name).toBe('Delivered')
  expect(event?.id).not.toBe(swap.op.delivery)
})

test('a delivery with other terms logs a hash that matches no signed op', async () => {
  const swap = await createOrder()
  const junk = { ...swap, fill: { ...swap.fill, recipient: world.stranger, minOutput: 0n, amount: 0n } }

  const [event] = readEvents(world, await deliver(world, junk))

  expect(event?.id).not.toBe(swap.op.delivery)
  expect(await readVault(world, 'lastRound', [swap.ring, 0n])).toBe(1n)
})

test('a swap goes through lock, delivery and claim', async () => {
  const swap = await createOrder()
  const inventory = await readBalance(world, world.token, world.vault)

  await lock(world, swap)
  await deliver(world, swap)
  await claim(world, swap)

  expect(await readBalance(world, world.token, world.vault)).toBe(inventory + 10n)
  await mint(world, { token: world.token, to: wallet.address, amount: 1n })
})
