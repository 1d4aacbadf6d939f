import { readFileSync } from 'node:fs'
import { type Hex, hashMessage, hashTypedData, keccak256, numberToHex, parseSignature, slice } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { geoAccountAbi, geoAccountRuntime } from '../../protocol/src/abi/geo-account.gen.ts'
import { read, readNonce, send, sendSigned } from '../scripts/chain.ts'
import { ask, encode } from './calls.ts'
import { isolate } from './isolate.ts'
import { createSwap, lock, readState, refundAttested, toCompact } from './op.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  delegate,
  deployTest,
  NATIVE,
  readBalance,
  testAbiOf,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
const other = await createWallet(world)
isolate(world)

const isValid = (hash: Hex, signature: Hex) =>
  ask<Hex>(world, {
    abi: geoAccountAbi,
    to: wallet.address,
    functionName: 'isValidSignature',
    args: [hash, signature],
  })

async function signPermit(token: Hex) {
  const types = {
    Permit: [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ],
  } as const
  const domain = { name: 'Permit', version: '1', chainId: world.chain.id, verifyingContract: token }
  const message = {
    owner: wallet.address,
    spender: world.stranger,
    value: 7n,
    nonce: 0n,
    deadline: 2n ** 40n,
  }
  return wallet.signTypedData({ domain, types, primaryType: 'Permit', message })
}

const allowance = (name: string, token: Hex) => {
  const args = [wallet.address, world.stranger]
  return ask<bigint>(world, { abi: testAbiOf(name), to: token, functionName: 'allowance', args })
}

test('only the escrow can ask a delegated wallet to pay', async () => {
  const swap = await createSwap(world, wallet)
  const args = [world.token, 100n, 100n, swap.hash, swap.r, swap.vs]
  const data = encode(geoAccountAbi, 'pay', args)

  await expect(send(world.chain, { from: world.locker, to: wallet.address, data })).rejects.toThrow(
    'NotEscrow',
  )
  await expect(send(world.chain, { from: world.locker, to: world.account, data })).rejects.toThrow(
    'NotEscrow',
  )
  await lock(world, swap)
  await expect(send(world.chain, { from: world.locker, to: wallet.address, data })).rejects.toThrow(
    'NotEscrow',
  )
  await expect(sendSigned(world.chain, wallet, { to: wallet.address, data })).rejects.toThrow()
  expect(await readBalance(world, world.token, wallet.address)).toBe(900n)
})

test('a delegated wallet signs permits for tokens that recover the signer', async () => {
  const token = await deployTest(world, 'PermitToken')
  const { r, s, v } = parseSignature(await signPermit(token))
  const args = [wallet.address, world.stranger, 7n, 2n ** 40n, Number(v), r, s]

  await callTestContract(world, { name: 'PermitToken', to: token, functionName: 'permit', args })

  expect(await allowance('PermitToken', token)).toBe(7n)
})

test('a delegated wallet signs permits for tokens that use ERC-1271, such as USDC and Permit2', async () => {
  const token = await deployTest(world, 'CodePermitToken')
  const signature = await signPermit(token)
  const permit = testAbiOf('CodePermitToken').filter(
    (item) => item.type !== 'function' || item.name !== 'permit' || item.inputs.length === 5,
  )
  const data = encode(permit, 'permit', [wallet.address, world.stranger, 7n, 2n ** 40n, signature])

  await send(world.chain, { from: world.stranger, to: token, data })

  expect(await allowance('CodePermitToken', token)).toBe(7n)
})

test("ERC-1271 accepts the wallet's own signature in its 65 and 64 byte forms, and nobody else's", async () => {
  const hash = hashTypedData({
    domain: { name: 'Anything' },
    types: { Note: [{ name: 'text', type: 'string' }] },
    primaryType: 'Note',
    message: { text: 'hello' },
  })
  const signature = await wallet.sign({ hash })
  const { r, s, yParity } = parseSignature(signature)
  const vs = numberToHex((BigInt(yParity) << 255n) | BigInt(s), { size: 32 })

  expect(await isValid(hash, signature)).toBe('0x1626ba7e')
  expect(await isValid(hash, `${r}${vs.slice(2)}`)).toBe('0x1626ba7e')
  expect(await isValid(hash, await other.sign({ hash }))).toBe('0xffffffff')
  expect(await isValid(hash, slice(signature, 0, 63))).toBe('0xffffffff')
  expect(await isValid(hash, '0x')).toBe('0xffffffff')
})

test('ERC-1271 accepts no signature of a message whose hash it is asked about', async () => {
  const hash: Hex = `0x${'42'.repeat(32)}`

  expect(await isValid(hash, await wallet.signMessage({ message: { raw: hash } }))).toBe('0xffffffff')
  expect(
    await isValid(hashMessage({ raw: hash }), await wallet.signMessage({ message: { raw: hash } })),
  ).toBe('0x1626ba7e')
})

test('ERC-1271 refuses a high s, an unknown v and a zero signature', async () => {
  const hash: Hex = `0x${'42'.repeat(32)}`
  const { r, s, yParity } = parseSignature(await wallet.sign({ hash }))
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = numberToHex(order - BigInt(s), { size: 32 })

  expect(await isValid(hash, `${r}${s.slice(2)}${yParity ? '1c' : '1b'}`)).toBe('0x1626ba7e')
  expect(await isValid(hash, `${r}${highS.slice(2)}${yParity ? '1b' : '1c'}`)).toBe('0xffffffff')
  expect(await isValid(hash, `${r}${s.slice(2)}1d`)).toBe('0xffffffff')
  expect(await isValid(hash, `0x${'00'.repeat(65)}`)).toBe('0xffffffff')
})

test('a delegated wallet receives NFTs by safe transfer', async () => {
  const nft = await deployTest(world, 'Nft')
  const multi = await deployTest(world, 'Multi')

  await callTestContract(world, {
    name: 'Nft',
    to: nft,
    functionName: 'safeMint',
    args: [wallet.address, 1n],
  })
  await callTestContract(world, {
    name: 'Multi',
    to: multi,
    functionName: 'mint',
    args: [wallet.address, 1n, 2n],
  })
  const batch = [wallet.address, [5n, 6n], [1n, 3n]]
  await callTestContract(world, { name: 'Multi', to: multi, functionName: 'mintBatch', args: batch })

  const owner = await ask(world, { abi: testAbiOf('Nft'), to: nft, functionName: 'ownerOf', args: [1n] })
  expect(owner).toBe(wallet.address)
  const args = [wallet.address, 6n]
  expect(await ask(world, { abi: testAbiOf('Multi'), to: multi, functionName: 'balanceOf', args })).toBe(3n)
})

test('a delegated wallet receives ERC-223 tokens of both forms', async () => {
  const token = await deployTest(world, 'Erc223Token')

  await callTestContract(world, {
    name: 'Erc223Token',
    to: token,
    functionName: 'mintFirstForm',
    args: [wallet.address, 1n],
  })
  await callTestContract(world, {
    name: 'Erc223Token',
    to: token,
    functionName: 'mintFinalForm',
    args: [wallet.address, 2n],
  })

  expect(await readBalance(world, token, wallet.address)).toBe(3n)
})

test('a delegated wallet receives coins, and answers no function that it does not have', async () => {
  const from = world.stranger
  await send(world.chain, { from, to: wallet.address, value: 5n })

  expect(await readBalance(world, NATIVE, wallet.address)).toBe(5n)
  await expect(
    send(world.chain, { from, to: wallet.address, value: 6n, data: '0xdeadbeef01' }),
  ).rejects.toThrow()
  await expect(read(world.chain, { to: wallet.address, data: '0x12345678' })).rejects.toThrow()
})

test('a delegated wallet sends its own transactions', async () => {
  await send(world.chain, { from: world.stranger, to: wallet.address, value: 10n ** 18n })
  const nonce = await readNonce(world.chain, wallet.address)

  await sendSigned(world.chain, wallet, { to: other.address, value: 9n })

  expect(await readNonce(world.chain, wallet.address)).toBe(nonce + 1)
  expect(await readBalance(world, NATIVE, other.address)).toBe(9n)
})

test('a delegated wallet reports exactly the interfaces it has', async () => {
  const supports = (id: string) =>
    ask(world, { abi: geoAccountAbi, to: wallet.address, functionName: 'supportsInterface', args: [id] })

  for (const id of ['0x01ffc9a7', '0x1626ba7e', '0x150b7a02', '0x4e2312e0'])
    expect(await supports(id)).toBe(true)
  for (const id of ['0xffffffff', '0x00000000', '0x80ac58cd']) expect(await supports(id)).toBe(false)
})

test('a refund reaches a wallet that has revoked its delegation', async () => {
  const swap = await createSwap(world, wallet)
  await lock(world, swap)
  await delegate(world, wallet, NATIVE)

  await refundAttested(world, swap)

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_000n)
})

test('the account has no storage, no initialization, no role, and no way to run other code', () => {
  const snapshot = readFileSync(new URL('../snapshots/GeoAccount.txt', import.meta.url), 'utf8')
  const names = geoAccountAbi.flatMap((item) => (item.type === 'function' ? [item.name.toLowerCase()] : []))

  expect(snapshot).toContain('\nstorage: slot, offset in bytes\nnone\n')
  expect(
    names.filter((name) => /init|owner|admin|exec|upgrade|call/.test(name.replace('tokenfallback', ''))),
  ).toEqual([])
  const opcodes = listOpcodes(geoAccountRuntime.bytecode)
  const banned = {
    CALLCODE: 0xf2,
    DELEGATECALL: 0xf4,
    SELFDESTRUCT: 0xff,
    ORIGIN: 0x32,
    SLOAD: 0x54,
    SSTORE: 0x55,
  }
  for (const opcode of Object.values(banned)) expect(opcodes).not.toContain(opcode)
})

/** The opcodes of a program, without the data of its pushes. */
function listOpcodes(code: Hex): number[] {
  const bytes = Buffer.from(code.slice(2), 'hex')
  const opcodes: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const opcode = bytes[at] ?? 0
    opcodes.push(opcode)
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f
  }
  return opcodes
}

/** The wallet's signature over a digest itself, without any prefix. */
async function signDigest(hash: Hex) {
  return toCompact(await wallet.sign({ hash }))
}

test('a wallet may sign the op as typed data, which it can show, instead of the 32 bytes', async () => {
  const swap = await createSwap(world, wallet)

  await lock(world, { ...swap, ...(await signDigest(swap.hash)) })

  expect(await readState(world, swap)).toBe('LOCKED')
})

test('a signature of any other digest does not pass as one of the op', async () => {
  const swap = await createSwap(world, wallet)
  const other = await createSwap(world, wallet, { inputAmount: 101n })
  const prefixedTwice = hashMessage({ raw: hashMessage({ raw: swap.hash }) })

  for (const digest of [other.hash, keccak256(swap.hash), prefixedTwice]) {
    const signature = await signDigest(digest)
    await expect(lock(world, { ...swap, ...signature })).rejects.toThrow('BadSignature')
  }
})

test("another wallet's typed data does not pay for this wallet", async () => {
  const swap = await createSwap(world, wallet)
  const stranger = privateKeyToAccount(generatePrivateKey())
  const signature = toCompact(await stranger.sign({ hash: swap.hash }))

  await expect(lock(world, { ...swap, ...signature })).rejects.toThrow('BadSignature')
})
