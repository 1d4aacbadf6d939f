import {
  type Address,
  type Hex,
  hexToBigInt,
  keccak256,
  type PrivateKeyAccount,
  parseSignature,
  type TypedDataDomain,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { testDollarAbi, testDollarBytecode } from '../../protocol/src/abi/test-dollar.gen.ts'
import * as evm from '../scripts/chain.ts'
import { callEscrow, encode, readEscrow } from './calls.ts'
import type { Swap } from './op.ts'
import { deployTest, listToken, mint, NATIVE, type World } from './world.ts'

type Options = { from?: Address; gas?: bigint }

/** A dollar token that takes EIP-3009 and EIP-2612 signatures, listed like any other. */
export async function createDollar(world: World): Promise<Address> {
  const code = { abi: testDollarAbi, bytecode: testDollarBytecode }
  const token = await evm.deploy(world.chain, code, ['USD Coin', 'USDC', 6])
  await listToken(world, token)
  return token
}

/** A wallet without code, that holds 1,000 units. */
export async function createPlainWallet(
  world: World,
  token: Address,
  amount = 1_000n,
  key = generatePrivateKey(),
): Promise<PrivateKeyAccount> {
  const wallet = privateKeyToAccount(key)
  if (token === NATIVE)
    await evm.send(world.chain, { from: world.stranger, to: wallet.address, value: amount })
  else await mint(world, { token, to: wallet.address, amount })
  return wallet
}

const dollarDomain = (world: World, token: Address) =>
  ({
    name: 'USD Coin',
    version: '2',
    chainId: world.chain.id,
    verifyingContract: token,
  }) as const satisfies TypedDataDomain

const authorizationFields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

type Authorization = {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

/** The authorization that the escrow uses for an op, or one that differs from it. */
export function authorizationOf(world: World, swap: Swap, terms: Partial<Authorization> = {}): Authorization {
  const { wallet: from, inputAmount: value, opDeadline } = swap.op
  const own = { from, to: world.escrow, value, validAfter: 0n, validBefore: opDeadline + 1n }
  return { ...own, nonce: swap.hash, ...terms }
}

/** The wallet's EIP-3009 signature for an op: all that it gives. */
export function signAuthorization(
  world: World,
  swap: Swap,
  terms: Partial<Authorization> & { signer?: PrivateKeyAccount } = {},
): Promise<Hex> {
  const { signer = swap.signer, ...rest } = terms
  return signer.signTypedData({
    domain: dollarDomain(world, swap.op.inputToken),
    types: { ReceiveWithAuthorization: authorizationFields },
    primaryType: 'ReceiveWithAuthorization',
    message: authorizationOf(world, swap, rest),
  })
}

export type SignedPayment = Authorization & { signature: Hex }

/** The wallet's EIP-3009 signature that pays the op's address, as payers by HTTP 402 give it: its nonce is any word. */
export async function signPayment(
  world: World,
  swap: Swap,
  terms: Partial<Authorization> & { signer?: PrivateKeyAccount } = {},
): Promise<SignedPayment> {
  const { signer = swap.signer, ...rest } = terms
  const own = { to: await depositAddress(world, swap), nonce: keccak256(swap.hash) }
  const message = authorizationOf(world, swap, { ...own, ...rest })
  const signature = await signer.signTypedData({
    domain: dollarDomain(world, swap.op.inputToken),
    types: { TransferWithAuthorization: authorizationFields },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  return { ...message, signature }
}

export function lockPaid(
  world: World,
  swap: Swap,
  { validAfter, validBefore, nonce, signature }: SignedPayment,
  options: Options = {},
): Promise<evm.Receipt> {
  const { from = swap.locker, ...rest } = options
  return callEscrow(world, from, 'lockPaid', [swap.op, validAfter, validBefore, nonce, signature], rest)
}

/** Pays the op's address by the authorization, as anyone can who saw it. */
export function usePayment(world: World, token: Address, payment: SignedPayment): Promise<evm.Receipt> {
  const { from, to, value, validAfter, validBefore, nonce, signature } = payment
  const args = [from, to, value, validAfter, validBefore, nonce, signature]
  const data = encode(testDollarAbi, 'transferWithAuthorization', args)
  return evm.send(world.chain, { from: world.stranger, to: token, data })
}

export async function lockAuthorized(
  world: World,
  swap: Swap,
  options: Options & { signature?: Hex } = {},
): Promise<evm.Receipt> {
  const { signature, from = swap.locker, ...rest } = options
  const args = [swap.op, signature ?? (await signAuthorization(world, swap))] as const
  return callEscrow(world, from, 'lockWithAuthorization', args, rest)
}

/** Locks a batch by authorization; `signatures` replaces the signatures of some ops. */
export async function lockManyAuthorized(
  world: World,
  swaps: readonly Swap[],
  options: Options & { signatures?: Readonly<Record<Hex, Hex>> } = {},
): Promise<evm.Receipt> {
  const { signatures = {}, from = world.locker, ...rest } = options
  const sign = async (swap: Swap) => ({
    op: swap.op,
    signature: signatures[swap.hash] ?? (await signAuthorization(world, swap)),
  })
  const ops = await Promise.all(swaps.map(sign))
  return callEscrow(world, from, 'lockManyWithAuthorization', [ops], rest)
}

export const depositAddress = (world: World, swap: Pick<Swap, 'hash'>): Promise<Address> =>
  readEscrow(world, 'depositAddress', [swap.hash])

/** Sends an op's input, or another amount or token, to the op's address, as an exchange would. */
export async function deposit(
  world: World,
  swap: Swap,
  { token = swap.op.inputToken, amount = swap.op.inputAmount }: { token?: Address; amount?: bigint } = {},
): Promise<void> {
  const to = await depositAddress(world, swap)
  if (token === NATIVE) await evm.send(world.chain, { from: world.stranger, to, value: amount })
  else await mint(world, { token, to, amount })
}

export function lockDeposited(world: World, swap: Swap, options: Options = {}): Promise<evm.Receipt> {
  const { from = swap.locker, ...rest } = options
  return callEscrow(world, from, 'lockDeposited', [swap.op], rest)
}

export type Permit = { owner: Address; spender: Address; value: bigint; nonce: bigint; deadline: bigint }
type SignedPermit = Permit & { v: number; r: Hex; s: Hex }

/** The wallet's EIP-2612 signature for an op: its spender is the op's address. */
export async function signPermit(
  world: World,
  swap: Swap,
  terms: Partial<Permit> & { signer?: PrivateKeyAccount; domain?: TypedDataDomain } = {},
): Promise<SignedPermit> {
  const { signer = swap.signer, domain = dollarDomain(world, swap.op.inputToken), ...rest } = terms
  const spender = await depositAddress(world, swap)
  const { wallet: owner, inputAmount: value, opDeadline: deadline } = swap.op
  const message = { owner, spender, value, nonce: 0n, deadline, ...rest }
  const types = {
    Permit: [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ],
  } as const
  const { r, s, yParity } = parseSignature(
    await signer.signTypedData({ domain, types, primaryType: 'Permit', message }),
  )
  return { ...message, v: 27 + yParity, r, s }
}

export function lockPermitted(
  world: World,
  swap: Swap,
  { deadline, v, r, s }: Pick<SignedPermit, 'deadline' | 'v' | 'r' | 's'>,
  options: Options = {},
): Promise<evm.Receipt> {
  const { from = swap.locker, ...rest } = options
  return callEscrow(world, from, 'lockPermitted', [swap.op, deadline, v, r, s], rest)
}

/** Sends what lies at an op's address to the op's wallet, for anyone. */
export function recover(
  world: World,
  swap: Swap,
  { token = swap.op.inputToken, from = world.stranger, ...rest }: Options & { token?: Address } = {},
): Promise<evm.Receipt> {
  return callEscrow(world, from, 'recover', [swap.locker, swap.op, token], rest)
}

/** Whether the token has seen an op's authorization. */
export async function isAuthorizationUsed(world: World, swap: Swap): Promise<boolean> {
  const data = encode(testDollarAbi, 'authorizationState', [swap.op.wallet, swap.hash])
  return hexToBigInt(await evm.read(world.chain, { to: swap.op.inputToken, data })) === 1n
}

/** The dollar token behind a proxy with an admin, as USDC is: its gas is like that of the real one. */
export async function createProxiedDollar(world: World): Promise<Address> {
  const code = { abi: testDollarAbi, bytecode: testDollarBytecode }
  const target = await evm.deploy(world.chain, code, ['USD Coin', 'USDC', 6])
  const token = await deployTest(world, 'AdminProxy', [target, world.treasury])
  await listToken(world, token)
  return token
}
