import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { readTime, setNextTime } from '../scripts/chain.ts'
import { callEscrow, callVault, readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import {
  attestClaims,
  attestRefund,
  claim,
  claimMany,
  createSwap,
  indexOf,
  lock,
  readState,
  refundAttested,
  type Swap,
  type Terms,
} from './op.ts'
import { sweepGas } from './sweep-gas.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  deployListed,
  eventNames,
  HOUR,
  NATIVE,
  readBalance,
  readEvents,
  type World,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world, world.token, 10_000n)
isolate(world)

const attacker = privateKeyToAccount(`0x${'13'.repeat(32)}`)
const vaultBalance = (token = world.token) => readBalance(world, token, world.vault)

async function createLocked(position: number, terms: Terms = {}): Promise<Swap> {
  const swap = await createSwap(world, wallet, { index: indexOf(1, position), ...terms })
  await lock(world, swap)
  return swap
}

const setClaimCap = (token: World['token'], limit: bigint) =>
  callEscrow(world, world.treasury, 'setClaimCap', [token, limit])

test("a claim with the attester's signature pays the input to the vault, whoever sends it", async () => {
  const swap = await createLocked(0)
  const before = await vaultBalance()

  const receipt = await claim(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Claimed', id: swap.hash }])
  expect(await readState(world, swap)).toBe('CLAIMED')
  expect((await vaultBalance()) - before).toBe(100n)
})

test('only the attester can attest that an op is delivered', async () => {
  const swap = await createLocked(0)
  const refunds = await attestRefund(world, swap.hash, 2n ** 40n)
  const claims = await attestClaims(world, [swap.hash])

  await expect(claim(world, swap, { signers: [attacker] })).rejects.toThrow('NotAttested')
  const send = (signatures: Hex) => callEscrow(world, world.locker, 'claim', [swap, signatures])
  await expect(send(refunds)).rejects.toThrow('NotAttested')
  await expect(send(`0x${'00'.repeat(64)}`)).rejects.toThrow('NotAttested')
  await expect(send('0x')).rejects.toThrow('NotAttested')
  const twice = callEscrow(world, world.locker, 'claimMany', [[swap, swap], claims])
  await expect(twice).rejects.toThrow('NotAttested')
  expect(await readState(world, swap)).toBe('LOCKED')
})

test("an attestation for one escrow's op is invalid on another chain", async () => {
  const elsewhere = await createWorld({ id: world.chain.id + 1 })
  const swap = await createLocked(0)
  const signatures = await attestClaims(elsewhere, [swap.hash])

  await expect(callEscrow(world, world.locker, 'claim', [swap, signatures])).rejects.toThrow('NotAttested')
})

test('an op is claimed once, and never after a refund', async () => {
  const first = await createLocked(0)
  const second = await createLocked(1)
  await claim(world, first)
  await refundAttested(world, second)

  await expect(claim(world, first)).rejects.toThrow('NotLocked')
  await expect(claim(world, second)).rejects.toThrow('NotLocked')
  await expect(refundAttested(world, first)).rejects.toThrow('NotLocked')
})

test('an op with another amount, wallet or locker than the locked one cannot be claimed', async () => {
  const swap = await createLocked(0)
  const larger = await createSwap(world, wallet, { inputAmount: 5_000n })

  await expect(claim(world, larger)).rejects.toThrow('NotLocked')
  const signatures = await attestClaims(world, [swap.hash])
  const other = { ...swap, locker: world.secondLocker }
  await expect(callEscrow(world, world.locker, 'claim', [other, signatures])).rejects.toThrow('NotAttested')
})

test('one signature claims a batch of mixed lockers and tokens, with one transfer for each token', async () => {
  const native = await createWallet(world, NATIVE, 1_000n)
  const coin = await createSwap(world, native, { inputToken: NATIVE, index: indexOf(1, 7) })
  await lock(world, coin)
  const swaps = [await createLocked(0), await createLocked(0, { locker: world.secondLocker }), coin]
  const [tokens, coins] = [await vaultBalance(), await vaultBalance(NATIVE)]

  const receipt = await claimMany(world, swaps)

  expect(eventNames(world, receipt)).toEqual(['Claimed', 'Claimed', 'Claimed'])
  const transfers = receipt.logs.filter(({ address }) => address.toLowerCase() === world.token.toLowerCase())
  expect(transfers).toHaveLength(1)
  expect((await vaultBalance()) - tokens).toBe(200n)
  expect((await vaultBalance(NATIVE)) - coins).toBe(100n)
})

test('a batch leaves out ops that are no longer locked, and pays exactly for the others', async () => {
  const swaps = [await createLocked(0), await createLocked(1), await createLocked(2)]
  const never = await createSwap(world, wallet, { index: indexOf(1, 3) })
  const [, refunded] = swaps
  if (refunded) await refundAttested(world, refunded)
  const before = await vaultBalance()

  const receipt = await claimMany(world, [...swaps, never, ...swaps.slice(0, 1)])

  expect(eventNames(world, receipt)).toEqual(['Claimed', 'Claimed'])
  expect((await vaultBalance()) - before).toBe(200n)
})

test('a token without a cap cannot be claimed', async () => {
  await setClaimCap(world.token, 0n)
  const swap = await createLocked(0)

  await expect(claim(world, swap)).rejects.toThrow('ClaimCapReached')
  expect(await readState(world, swap)).toBe('LOCKED')
})

test('a claim over the cap stays locked and succeeds in the next hour', async () => {
  await setClaimCap(world.token, 150n)
  const swaps = [await createLocked(0), await createLocked(1)]
  const [first, second] = swaps
  if (!first || !second) throw new Error('two swaps')
  await setNextTime(world.chain, ((await readTime(world.chain)) / HOUR + 1n) * HOUR)
  await claim(world, first)

  await expect(claim(world, second)).rejects.toThrow('ClaimCapReached')
  expect(await readState(world, second)).toBe('LOCKED')
  expect(await readEscrow(world, 'claimCaps', [world.token])).toEqual([150n, 100n])
  await setNextTime(world.chain, ((await readTime(world.chain)) / HOUR + 1n) * HOUR)
  await claim(world, second)
  expect(await readState(world, second)).toBe('CLAIMED')
})

test('a batch defers ops over the cap and claims those that fit', async () => {
  await setClaimCap(world.token, 200n)
  const swaps = [await createLocked(0), await createLocked(1, { inputAmount: 300n }), await createLocked(2)]
  const before = await vaultBalance()

  const receipt = await claimMany(world, swaps)

  expect(eventNames(world, receipt)).toEqual(['Claimed', 'ClaimDeferred', 'Claimed'])
  expect(await Promise.all(swaps.map((swap) => readState(world, swap)))).toEqual([
    'CLAIMED',
    'LOCKED',
    'CLAIMED',
  ])
  expect((await vaultBalance()) - before).toBe(200n)
})

test('the cap counts every claim of the hour, also in a batch that returns to a token', async () => {
  await setClaimCap(world.token, 250n)
  const native = await createWallet(world, NATIVE, 1_000n)
  const coin = await createSwap(world, native, { inputToken: NATIVE, index: indexOf(1, 7) })
  await lock(world, coin)
  const swaps = [await createLocked(0), await createLocked(1), coin, await createLocked(2)]

  const receipt = await claimMany(world, swaps)

  expect(eventNames(world, receipt)).toEqual(['Claimed', 'Claimed', 'Claimed', 'ClaimDeferred'])
  expect(await readEscrow(world, 'claimCaps', [world.token])).toEqual([250n, 200n])
})

test('a claim closes an op whose token refuses the vault, and the treasury collects the credit', async () => {
  const token = await deployListed(world, 'BlockToken')
  const holder = await createWallet(world, token)
  const swap = await createSwap(world, holder, { inputToken: token })
  await lock(world, swap)
  const setBlocked = (value: boolean) =>
    callTestContract(world, {
      name: 'BlockToken',
      to: token,
      functionName: 'setBlocked',
      args: [world.vault, value],
    })
  await setBlocked(true)

  const receipt = await claim(world, swap)

  expect(eventNames(world, receipt)).toEqual(['Claimed', 'Credited'])
  expect(await readEscrow(world, 'credits', [world.vault, token])).toBe(100n)
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await expect(callEscrow(world, world.stranger, 'refund', [swap.locker, swap.op])).rejects.toThrow(
    'NotLocked',
  )
  await expect(callVault(world, world.stranger, 'collectCredit', [world.escrow, token])).rejects.toThrow(
    'NotTreasury',
  )
  await setBlocked(false)
  const before = await vaultBalance(token)
  await callVault(world, world.treasury, 'collectCredit', [world.escrow, token])
  expect((await vaultBalance(token)) - before).toBe(100n)
})

test('a batch credits the vault for a token that refuses it, and pays the others', async () => {
  const token = await deployListed(world, 'BlockToken')
  const holder = await createWallet(world, token)
  const refused = await createSwap(world, holder, { inputToken: token, index: indexOf(1, 5) })
  await lock(world, refused)
  await callTestContract(world, {
    name: 'BlockToken',
    to: token,
    functionName: 'setBlocked',
    args: [world.vault, true],
  })
  const before = await vaultBalance()

  await claimMany(world, [refused, await createLocked(0)])

  expect((await vaultBalance()) - before).toBe(100n)
  expect(await readEscrow(world, 'credits', [world.vault, token])).toBe(100n)
})

test.each(['BombToken', 'GasToken'])(
  'a batch survives a %s that turns hostile after its lock',
  async (name) => {
    const token = await deployListed(world, name)
    const holder = await createWallet(world, token)
    const hostile = await createSwap(world, holder, { inputToken: token, index: indexOf(1, 5) })
    await lock(world, hostile)
    if (name === 'GasToken') {
      await callTestContract(world, {
        name,
        to: token,
        functionName: 'setBurns',
        args: [10n ** 9n, 10n ** 9n],
      })
    } else await callTestContract(world, { name, to: token, functionName: 'setArmed', args: [true] })

    const receipt = await claimMany(world, [hostile, await createLocked(0)], { gas: 1_000_000n })

    expect(eventNames(world, receipt)).toEqual(['Claimed', 'Credited', 'Claimed'])
  },
)

test('a claim with any gas pays the vault or changes nothing: nobody can force a credit', async () => {
  const inputToken = await deployListed(world, 'DemandingToken')
  const holder = await createWallet(world, inputToken)
  const first = await createSwap(world, holder, { inputToken, index: indexOf(1, 0) })
  const second = await createSwap(world, holder, { inputToken, index: indexOf(1, 1) })
  const swaps = [first, second]
  await lock(world, first)
  await lock(world, second)

  const range = { from: 40_000n, to: 420_000n, step: 10_000n }
  const endings = await sweepGas(world, range, (gas) => claimMany(world, swaps, { gas }))

  expect(endings).toEqual(['Claimed,Claimed', 'reverted'])
})
