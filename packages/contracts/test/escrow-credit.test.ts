import { type Address, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { setNextTime } from '../scripts/chain.ts'
import { callEscrow, readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import { createSwap, indexOf, lock, refundAttested } from './op.ts'
import { sendWithdrawal, signWithdrawal } from './withdrawal.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  delegate,
  deployListed,
  deployTest,
  NATIVE,
  readBalance,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world, NATIVE, 1_000n)
const refusing = await deployTest(world, 'RefusingReceiver')
const recipient = `0x${'be'.repeat(20)}` as const
isolate(world)

const setBlocked = (token: Address, holder: Address, value: boolean) =>
  callTestContract(world, {
    name: 'BlockToken',
    to: token,
    functionName: 'setBlocked',
    args: [holder, value],
  })

/** Leaves the wallet with a native credit of 100. */
async function createCredit(position = 0): Promise<void> {
  const swap = await createSwap(world, wallet, { inputToken: NATIVE, index: indexOf(1, position) })
  await delegate(world, wallet, world.account)
  await lock(world, swap)
  await delegate(world, wallet, refusing)
  await refundAttested(world, swap)
}

test("an owner withdraws a token's credit to itself, once, and to no other address", async () => {
  const token = await deployListed(world, 'BlockToken')
  const holder = await createWallet(world, token)
  const swap = await createSwap(world, holder, { inputToken: token })
  await lock(world, swap)
  await setBlocked(token, holder.address, true)
  await refundAttested(world, swap)
  const elsewhere = await signWithdrawal(world, holder, { token, to: recipient })
  const signed = await signWithdrawal(world, holder, { token, to: holder.address })

  await expect(sendWithdrawal(world, elsewhere)).rejects.toThrow('BadRecipient')
  await expect(sendWithdrawal(world, signed)).rejects.toThrow()
  await setBlocked(token, holder.address, false)
  await sendWithdrawal(world, signed)

  expect(await readBalance(world, token, holder.address)).toBe(1_000n)
  expect(await readEscrow(world, 'credits', [holder.address, token])).toBe(0n)
  const again = await signWithdrawal(world, holder, { token, to: holder.address, nonce: 1n })
  await expect(sendWithdrawal(world, again)).rejects.toThrow('NoCredit')
})

test('a wallet without gas withdraws coins to any address, by a signature that someone else sends', async () => {
  await createCredit()

  await sendWithdrawal(world, await signWithdrawal(world, wallet, { to: recipient }))

  expect(await readBalance(world, NATIVE, recipient)).toBe(100n)
  expect(await readEscrow(world, 'nonces', [wallet.address])).toBe(1n)
})

test('a signed withdrawal works once', async () => {
  await createCredit(0)
  const signed = await signWithdrawal(world, wallet, { to: recipient })
  await sendWithdrawal(world, signed)
  await createCredit(1)

  await expect(sendWithdrawal(world, signed)).rejects.toThrow('BadSignature')
  expect(await readEscrow(world, 'credits', [wallet.address, NATIVE])).toBe(100n)
})

test("nobody can withdraw another's credit, or redirect it", async () => {
  await createCredit()
  const other = await createWallet(world)
  const signed = await signWithdrawal(world, wallet, { to: recipient })
  const theirs = await signWithdrawal(world, other, { owner: wallet.address })
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = BigInt(signed.vs) & (2n ** 255n - 1n)
  const flipped = numberToHex((order - s) & (2n ** 255n - 1n), { size: 32 })

  await expect(callEscrow(world, world.stranger, 'withdraw', [NATIVE, world.stranger])).rejects.toThrow(
    'NoCredit',
  )
  await expect(sendWithdrawal(world, theirs)).rejects.toThrow('BadSignature')
  await expect(sendWithdrawal(world, { ...signed, to: world.stranger })).rejects.toThrow('BadSignature')
  await expect(sendWithdrawal(world, { ...signed, token: world.token })).rejects.toThrow('BadSignature')
  await expect(sendWithdrawal(world, { ...signed, deadline: 2n ** 41n })).rejects.toThrow('BadSignature')
  await expect(sendWithdrawal(world, { ...signed, vs: flipped })).rejects.toThrow('BadSignature')
  const zero = `0x${'00'.repeat(32)}` as const
  await expect(sendWithdrawal(world, { ...signed, owner: NATIVE, r: zero, vs: zero })).rejects.toThrow(
    'BadSignature',
  )
})

test.each([
  [0n, undefined],
  [1n, 'Expired'],
])('a signed withdrawal %i s past its deadline gives %s', async (offset, error) => {
  await createCredit()
  const deadline = 2n ** 33n
  const signed = await signWithdrawal(world, wallet, { to: recipient, deadline })
  await setNextTime(world.chain, deadline + offset)

  if (error) await expect(sendWithdrawal(world, signed)).rejects.toThrow(error)
  else await sendWithdrawal(world, signed)
})

test('a withdrawal to the zero address, or to the escrow itself, is refused', async () => {
  await createCredit()

  for (const to of [NATIVE, world.escrow] as const) {
    await expect(sendWithdrawal(world, await signWithdrawal(world, wallet, { to }))).rejects.toThrow(
      'BadRecipient',
    )
  }
})

test('a withdrawal that is refused again leaves the credit unchanged', async () => {
  await createCredit()
  const signed = await signWithdrawal(world, wallet, { to: refusing })

  await expect(sendWithdrawal(world, signed)).rejects.toThrow()

  expect(await readEscrow(world, 'credits', [wallet.address, NATIVE])).toBe(100n)
  expect(await readEscrow(world, 'nonces', [wallet.address])).toBe(0n)
})

test('credits of one owner add up', async () => {
  await createCredit(0)
  await createCredit(1)

  expect(await readEscrow(world, 'credits', [wallet.address, NATIVE])).toBe(200n)
})
