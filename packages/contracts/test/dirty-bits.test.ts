import { type Hex, size, slice } from 'viem'
import { expect, test } from 'vitest'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import { read, send, setNextTime } from '../scripts/chain.ts'
import { encode } from './calls.ts'
import { isolate } from './isolate.ts'
import { attestClaims, attestRefund, createSwap, lock, readState, type Swap } from './op.ts'
import { createDollar, createPlainWallet, deposit, signAuthorization } from './ways-in.ts'
import { createWallet, createWorld, readBalance } from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
isolate(world)

/** Every word of the calldata that holds one of the addresses, with its upper bits set, one at a time. */
function dirty(data: Hex, addresses: readonly Hex[]): Hex[] {
  const words = Array.from({ length: (size(data) - 4) / 32 }, (_, at) => at)
  const clean = (at: number) => slice(data, 4 + at * 32, 36 + at * 32)
  const isAddress = (at: number) =>
    addresses.some((address) => clean(at) === `0x${'00'.repeat(12)}${address.slice(2).toLowerCase()}`)
  const found = words.filter(isAddress)
  return found.map((at) => {
    const start = 2 + (4 + at * 32) * 2
    return `${data.slice(0, start)}${'01'.repeat(12)}${data.slice(start + 24)}` as Hex
  })
}

const send32 = (from: Hex, data: Hex) => send(world.chain, { from, to: world.escrow, data })
const addressesOf = ({ op, locker }: Swap) => [op.wallet, op.inputToken, locker]

test('an address with dirty upper bits is refused by every way in, and nothing is locked', async () => {
  const token = await createDollar(world)
  const plain = await createPlainWallet(world, token)
  const swap = await createSwap(world, wallet)
  const dollars = await createSwap(world, plain, { inputToken: token })
  await deposit(world, dollars)
  const signature = await signAuthorization(world, dollars)
  const { op, r, vs } = swap
  const calls: [Hex, Swap][] = [
    [encode(geoEscrowAbi, 'lock', [op, r, vs]), swap],
    [encode(geoEscrowAbi, 'lockMany', [[{ op, r, vs }]]), swap],
    [encode(geoEscrowAbi, 'lockWithAuthorization', [dollars.op, signature]), dollars],
    [encode(geoEscrowAbi, 'lockManyWithAuthorization', [[{ op: dollars.op, signature }]]), dollars],
    [encode(geoEscrowAbi, 'lockDeposited', [dollars.op]), dollars],
    [encode(geoEscrowAbi, 'lockPermitted', [dollars.op, 0n, 27, r, vs]), dollars],
    [encode(geoEscrowAbi, 'lockPaid', [dollars.op, 0n, 0n, r, signature]), dollars],
  ]

  for (const [data, each] of calls) {
    const variants = dirty(data, addressesOf(each))
    expect(variants).toHaveLength(2)
    for (const variant of variants) await expect(send32(world.locker, variant)).rejects.toThrow()
    expect(await readState(world, each)).toBe('NONE')
  }
})

test('an address with dirty upper bits never names another op than the clean one', async () => {
  const swap = await createSwap(world, wallet)
  const data = encode(geoEscrowAbi, 'hashOp', [swap.op, swap.locker])
  expect(await read(world.chain, { to: world.escrow, data })).toBe(swap.hash)

  const variants = dirty(data, addressesOf(swap))
  expect(variants).toHaveLength(3)
  for (const variant of variants)
    await expect(read(world.chain, { to: world.escrow, data: variant })).rejects.toThrow()
})

test('a locked op is closed only by its clean words, and then in whole', async () => {
  const swap = await createSwap(world, wallet)
  await lock(world, swap)
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  const { op, locker, hash } = swap
  const claims = await attestClaims(world, [hash])
  const refunds = await attestRefund(world, hash, 2n ** 40n)
  const calls: Hex[] = [
    encode(geoEscrowAbi, 'claim', [{ locker, op }, claims]),
    encode(geoEscrowAbi, 'claimMany', [[{ locker, op }], claims]),
    encode(geoEscrowAbi, 'refundAttested', [locker, op, 2n ** 40n, refunds]),
    encode(geoEscrowAbi, 'recover', [locker, op, op.inputToken]),
    encode(geoEscrowAbi, 'refund', [locker, op]),
  ]

  for (const data of calls) {
    const variants = dirty(data, addressesOf(swap))
    expect(variants.length).toBeGreaterThanOrEqual(3)
    for (const variant of variants) await expect(send32(world.stranger, variant)).rejects.toThrow()
  }
  await send32(world.stranger, calls.at(-1) ?? '0x')

  expect(await readState(world, swap)).toBe('REFUNDED')
  expect(await readBalance(world, world.token, wallet.address)).toBe(1_000n)
})

test('the vault refuses dirty upper bits in tokens and recipients', async () => {
  const swap = await createSwap(world, wallet)
  const { ring, outputToken: token, fill } = swap
  const calls: Hex[] = [
    encode(geoVaultAbi, 'deliver', [ring, token, fill]),
    encode(geoVaultAbi, 'deliverMany', [[{ ring, token, fill }]]),
  ]

  for (const data of calls) {
    const variants = dirty(data, [token, fill.recipient])
    expect(variants).toHaveLength(2)
    for (const variant of variants)
      await expect(
        send(world.chain, { from: world.deliverer, to: world.vault, data: variant }),
      ).rejects.toThrow()
  }
  expect(await readBalance(world, token, fill.recipient)).toBe(0n)
})
