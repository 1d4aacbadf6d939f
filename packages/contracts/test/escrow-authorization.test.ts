import { type Address, concat, encodeAbiParameters, type Hex, keccak256, type PrivateKeyAccount } from 'viem'
import { expect, test } from 'vitest'
import { testDollarAbi } from '../../protocol/src/abi/test-dollar.gen.ts'
import { read, send, setNextTime } from '../scripts/chain.ts'
import { callEscrow, encode } from './calls.ts'
import { isolate } from './isolate.ts'
import { claim, createSwap, indexOf, readState, refund, type Swap, type Terms } from './op.ts'
import { sweepGas } from './sweep-gas.ts'
import {
  authorizationOf,
  createDollar,
  createPlainWallet,
  isAuthorizationUsed,
  lockAuthorized,
  lockManyAuthorized,
  signAuthorization,
} from './ways-in.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  delegate,
  deployListed,
  deployTest,
  eventNames,
  mint,
  NATIVE,
  readBalance,
  readCode,
  readEvents,
} from './world.ts'

const world = await createWorld()
const dollar = await createDollar(world)
const wallet = await createPlainWallet(world, dollar)
const other = await createPlainWallet(world, dollar)
isolate(world)

const createInput = (payer: PrivateKeyAccount, terms: Terms = {}): Promise<Swap> =>
  createSwap(world, payer, { inputToken: dollar, ...terms })
const balanceOf = (holder: Address) => readBalance(world, dollar, holder)
const useElsewhere = (name: 'receiveWithAuthorization' | 'transferWithAuthorization', args: unknown[]) =>
  send(world.chain, { from: world.stranger, to: dollar, data: encode(testDollarAbi, name, args) })

/** An op whose payer is a contract; the key signs for it. */
async function createFor(payer: Address, signer: PrivateKeyAccount, terms: Terms = {}): Promise<Swap> {
  return createInput({ ...signer, address: payer }, terms)
}

test('one typed-data signature of a wallet without code or delegation locks its input', async () => {
  const swap = await createInput(wallet)

  const receipt = await lockAuthorized(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Locked', id: swap.hash }])
  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await readCode(world, wallet.address)).toBe('0x')
  expect(await balanceOf(wallet.address)).toBe(900n)
  expect(await isAuthorizationUsed(world, swap)).toBe(true)
})

test('an op locked by authorization is claimed or refunded as any other', async () => {
  const claimed = await createInput(wallet)
  const refunded = await createInput(wallet, { index: indexOf(1, 1) })
  await lockManyAuthorized(world, [claimed, refunded])

  await claim(world, claimed)
  await setNextTime(world.chain, refunded.op.refundDeadline + 1n)
  await refund(world, refunded)

  expect(await balanceOf(wallet.address)).toBe(900n)
})

test('the last second of an authorization is the opDeadline', async () => {
  const swap = await createInput(wallet)
  const late = await createInput(other, { index: indexOf(1, 1) })
  await setNextTime(world.chain, swap.op.opDeadline)
  await lockAuthorized(world, swap)

  await setNextTime(world.chain, late.op.opDeadline + 1n)
  await expect(lockAuthorized(world, late)).rejects.toThrow('Expired')
})

test.each<[string, (swap: Swap) => Parameters<typeof signAuthorization>[2]]>([
  ['another amount', () => ({ value: 101n })],
  ['another receiver', () => ({ to: world.stranger })],
  ['another op', () => ({ nonce: `0x${'01'.repeat(32)}` })],
  ['a later end', ({ op }) => ({ validBefore: op.opDeadline + 2n })],
  ['a later start', () => ({ validAfter: 1n })],
  ["another wallet's key", () => ({ signer: other })],
])('an authorization with %s locks nothing', async (_, terms) => {
  const swap = await createInput(wallet)
  const signature = await signAuthorization(world, swap, terms(swap))

  await expect(lockAuthorized(world, swap, { signature })).rejects.toThrow()
  expect(await readState(world, swap)).toBe('NONE')
  expect(await balanceOf(wallet.address)).toBe(1_000n)
})

test('an authorization is for one locker: another cannot use it, and an op is locked once', async () => {
  const swap = await createInput(wallet)

  await expect(lockAuthorized(world, swap, { from: world.secondLocker })).rejects.toThrow()
  await lockAuthorized(world, swap)

  await expect(lockAuthorized(world, swap)).rejects.toThrow('SlotTaken')
})

test('nobody can use the authorization outside the escrow, because the receiver must call', async () => {
  const swap = await createInput(wallet)
  const signature = await signAuthorization(world, swap)
  const { from, to, value, validAfter, validBefore, nonce } = authorizationOf(world, swap)
  const args = [from, to, value, validAfter, validBefore, nonce, signature]

  await expect(useElsewhere('receiveWithAuthorization', args)).rejects.toThrow()
  await expect(useElsewhere('transferWithAuthorization', args)).rejects.toThrow()

  await lockAuthorized(world, swap, { signature })
})

test('the checks of a lock hold for authorizations: deadlines, index and position', async () => {
  const { opDeadline } = (await createInput(wallet)).op
  const cases: [Terms, string][] = [
    [{ refundDeadline: opDeadline }, 'BadDeadlines'],
    [{ refundDeadline: opDeadline + 8n * 86_400n }, 'BadDeadlines'],
    [{ index: 2n ** 64n }, 'IndexOutOfRange'],
    [{ index: 5n }, 'SlotTaken'],
  ]

  for (const [terms, error] of cases)
    await expect(lockAuthorized(world, await createInput(wallet, terms))).rejects.toThrow(error)
})

test('a wallet shared by two owners pays with its own kind of signature', async () => {
  const shared = await deployTest(world, 'SharedWallet', [wallet.address, other.address])
  await mint(world, { token: dollar, to: shared, amount: 500n })
  const swap = await createFor(shared, wallet)
  const parts = await Promise.all([wallet, other].map((signer) => signAuthorization(world, swap, { signer })))
  const [first = '0x', second = '0x'] = parts

  await expect(lockAuthorized(world, swap, { signature: concat([first, first]) })).rejects.toThrow()
  await lockAuthorized(world, swap, { signature: concat([first, second]) })

  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await balanceOf(shared)).toBe(400n)
})

test('a wallet that is delegated to another vendor pays by that code', async () => {
  const holder = await createWallet(world, dollar)
  await delegate(world, holder, await deployTest(world, 'WrappingDelegate'))
  const swap = await createInput(holder)
  const plain = await signAuthorization(world, swap)
  await expect(lockAuthorized(world, swap, { signature: plain })).rejects.toThrow()

  await lockAuthorized(world, swap, { signature: await signWrapped(holder, swap) })

  expect(await readState(world, swap)).toBe('LOCKED')
})

/** As `WrappingDelegate` wants it: over the digest and the wallet. */
async function signWrapped(holder: PrivateKeyAccount, swap: Swap): Promise<Hex> {
  const { from, to, value, validAfter, validBefore, nonce } = authorizationOf(world, swap)
  const name = 'ReceiveWithAuthorization'
  const fields = 'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce'
  const words = ['bytes32', 'address', 'address', 'uint256', 'uint256', 'uint256', 'bytes32']
  const typehash = keccak256(`0x${Buffer.from(`${name}(${fields})`).toString('hex')}`)
  const struct = keccak256(
    encodeAbiParameters(
      words.map((type) => ({ type })),
      [typehash, from, to, value, validAfter, validBefore, nonce],
    ),
  )
  const separator = await readSeparator()
  const digest = keccak256(concat(['0x1901', separator, struct]))
  const wrapped = encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [from, digest])
  return holder.sign({ hash: keccak256(wrapped) })
}

async function readSeparator(): Promise<Hex> {
  return read(world.chain, { to: dollar, data: encode(testDollarAbi, 'DOMAIN_SEPARATOR', []) })
}

test('a wallet that is delegated to GeoAccount can pay by authorization too', async () => {
  const swap = await createInput(await createWallet(world, dollar))

  await lockAuthorized(world, swap)

  expect(await readState(world, swap)).toBe('LOCKED')
})

test('native coin and tokens without authorizations have no such way', async () => {
  const native = await createInput(wallet, { inputToken: NATIVE })
  const plain = await createInput(wallet, { inputToken: world.token })

  await expect(lockAuthorized(world, native, { signature: '0x' })).rejects.toThrow()
  await expect(lockAuthorized(world, plain, { signature: '0x' })).rejects.toThrow()
  const receipt = await lockManyAuthorized(world, [native, plain], {
    signatures: { [native.hash]: '0x', [plain.hash]: '0x' },
  })
  expect(eventNames(world, receipt)).toEqual(['LockFailed', 'LockFailed'])
})

test('a token that accepts the call and moves nothing, or too little, locks nothing', async () => {
  const silent = await deployListed(world, 'FallbackToken')
  const loose = await deployListed(world, 'LooseToken')
  await mint(world, { token: loose, to: wallet.address, amount: 1_000n })
  const setPercent = (percent: bigint) =>
    callTestContract(world, { name: 'LooseToken', to: loose, functionName: 'setPercent', args: [percent] })
  const silentSwap = await createInput(wallet, { inputToken: silent })
  const swap = await createInput(wallet, { inputToken: loose })

  await expect(lockAuthorized(world, silentSwap, { signature: '0x' })).rejects.toThrow('WrongAmount')
  for (const percent of [99n, 101n]) {
    await setPercent(percent)
    await expect(lockAuthorized(world, swap, { signature: '0x' })).rejects.toThrow('WrongAmount')
  }
  await setPercent(100n)
  await lockAuthorized(world, swap, { signature: '0x' })
  expect(await readBalance(world, loose, world.escrow)).toBe(100n)
})

test('a batch locks the good ops, and a bad one leaves no trace but a log', async () => {
  const loose = await deployListed(world, 'LooseToken')
  await mint(world, { token: loose, to: wallet.address, amount: 1_000n })
  await callTestContract(world, { name: 'LooseToken', to: loose, functionName: 'setPercent', args: [99n] })
  const good = await createInput(wallet)
  const forged = await createInput(other, { index: indexOf(1, 1) })
  const short = await createInput(wallet, { inputToken: loose, index: indexOf(1, 2) })
  const last = await createInput(other, { index: indexOf(1, 3) })
  const signatures = {
    [forged.hash]: await signAuthorization(world, forged, { signer: wallet }),
    [short.hash]: '0x' as const,
  }

  const receipt = await lockManyAuthorized(world, [good, forged, short, last], { signatures })

  expect(eventNames(world, receipt)).toEqual(['Locked', 'LockFailed', 'LockFailed', 'Locked'])
  const states = [good, forged, short, last].map((swap) => readState(world, swap))
  expect(await Promise.all(states)).toEqual(['LOCKED', 'NONE', 'NONE', 'LOCKED'])
  expect(await readBalance(world, loose, wallet.address)).toBe(1_000n)
  expect(await balanceOf(world.escrow)).toBe(200n)
})

test('a wallet that burns all gas costs a batch its share, and the others are locked', async () => {
  const burning = await deployTest(world, 'BurningWallet')
  await mint(world, { token: dollar, to: burning, amount: 500n })
  const swaps = [await createFor(burning, wallet), await createInput(other, { index: indexOf(1, 1) })]

  const receipt = await lockManyAuthorized(world, swaps, { gas: 900_000n })

  expect(eventNames(world, receipt)).toEqual(['LockFailed', 'Locked'])
})

test('a batch with any gas locks every op or changes nothing: nobody can make a good op fail', async () => {
  const swaps = [await createInput(wallet), await createInput(other, { index: indexOf(1, 1) })]

  const range = { from: 60_000n, to: 720_000n, step: 20_000n }
  const endings = await sweepGas(world, range, (gas) => lockManyAuthorized(world, swaps, { gas }))

  expect(endings).toEqual(['Locked,Locked', 'reverted'])
})

test('only the escrow itself receives one authorized payment of a batch', async () => {
  const swap = await createInput(wallet)
  const signature = await signAuthorization(world, swap)
  const args = [swap.op, swap.hash, 100n, signature] as const

  await expect(callEscrow(world, world.locker, 'receiveAuthorized', args)).rejects.toThrow('NotSelf')
})

test('a blocked wallet pays nothing, and a blocked wallet is credited its refund', async () => {
  const swap = await createInput(wallet)
  const setBlocked = (name: 'blacklist' | 'unBlacklist') =>
    send(world.chain, {
      from: world.stranger,
      to: dollar,
      data: encode(testDollarAbi, name, [wallet.address]),
    })
  await setBlocked('blacklist')
  await expect(lockAuthorized(world, swap)).rejects.toThrow()
  await setBlocked('unBlacklist')
  await lockAuthorized(world, swap)
  await setBlocked('blacklist')
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)

  expect(eventNames(world, await refund(world, swap))).toEqual(['Refunded', 'Credited'])
})
