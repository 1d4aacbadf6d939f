import type { Address, PrivateKeyAccount } from 'viem'
import { claimMany, createSwap, indexOf, type Swap } from '../test/op.ts'
import {
  createDollar,
  createPlainWallet,
  createProxiedDollar,
  deposit,
  lockAuthorized,
  lockDeposited,
  lockManyAuthorized,
  lockPaid,
  lockPermitted,
  recover,
  signPayment,
  signPermit,
} from '../test/ways-in.ts'
import { createWorld, mint, NATIVE, type World } from '../test/world.ts'
import * as evm from './chain.ts'
import {
  amounts,
  deadlines,
  type GasRow,
  initialDate,
  inputAmount,
  keyOf,
  measureAll,
  type Scene,
} from './gas-scene.ts'

/**
 * The ways in from wallets that are not delegated. Authorizations, payments and permits are of a dollar with a
 * blocklist, the former two behind a proxy, as USDC is; deposits are OpenZeppelin's ERC-20. Positions are in use, and
 * wallets have held the tokens and given a permit before.
 */
export async function measureWaysIn(): Promise<GasRow[]> {
  const world = await createWorld({ initialDate })
  const [dollar, proxied] = [await createDollar(world), await createProxiedDollar(world)]
  const wallets: PrivateKeyAccount[] = []
  for (let i = 0; i < 20; i++) {
    const wallet = await createPlainWallet(world, proxied, inputAmount * 10n, keyOf(`wallet ${i}`))
    for (const token of [dollar, world.token])
      await mint(world, { token, to: wallet.address, amount: inputAmount * 10n })
    wallets.push(wallet)
  }
  const [wallet] = wallets
  if (!wallet) throw new Error('the scene has no wallet')
  for (const token of [dollar, proxied, world.token])
    await mint(world, { token, to: world.escrow, amount: 1n })
  await evm.send(world.chain, { from: world.stranger, to: world.escrow, value: 1n })
  const createAll = (round: number) =>
    Promise.all(wallets.map((each, at) => create(world, each, proxied, indexOf(round, at))))
  const used = await createAll(1)
  await lockManyAuthorized(world, used)
  await claimMany(world, used)
  await lockPermitOf(world, await create(world, wallet, dollar, indexOf(1, 20)), 0n)

  const one = (token: Address) => create(world, wallet, token, indexOf(2, 0))
  const scene: Scene = { world, wallets, sponsor: wallet }
  return measureAll(scene, [
    ['lock by authorization', 101_000, async () => gasOf(lockAuthorized(world, await one(proxied)))],
    [
      'lock by authorization, 20 per transaction',
      75_000,
      async () => (await gasOf(lockManyAuthorized(world, await createAll(2)))) / 20n,
    ],
    [
      'lock by payment',
      155_000,
      async () => {
        const swap = await one(proxied)
        return gasOf(lockPaid(world, swap, await signPayment(world, swap)))
      },
    ],
    ['lock by permit', 125_000, async () => lockPermitOf(world, await one(dollar), 1n)],
    ['lock of a deposit', 101_000, async () => lockDepositOf(world, await one(world.token))],
    ['lock of a native deposit', 101_000, async () => lockDepositOf(world, await one(NATIVE))],
    [
      'recovery after a lock',
      75_000,
      async () => {
        const swap = await one(world.token)
        await lockDepositOf(world, swap)
        return recoverOf(world, swap)
      },
    ],
    ['recovery, never locked', 85_000, async () => recoverOf(world, await one(world.token))],
  ])
}

function create(world: World, wallet: PrivateKeyAccount, inputToken: Address, index: bigint): Promise<Swap> {
  return createSwap(world, wallet, { ...amounts, ...deadlines, inputToken, index })
}

const gasOf = async (sent: Promise<evm.Receipt>) => (await sent).gasUsed

async function lockDepositOf(world: World, swap: Swap): Promise<bigint> {
  await deposit(world, swap)
  return gasOf(lockDeposited(world, swap))
}

async function lockPermitOf(world: World, swap: Swap, nonce: bigint): Promise<bigint> {
  return gasOf(lockPermitted(world, swap, await signPermit(world, swap, { nonce })))
}

async function recoverOf(world: World, swap: Swap): Promise<bigint> {
  await deposit(world, swap)
  await evm.setNextTime(world.chain, swap.op.opDeadline + 1n)
  return gasOf(recover(world, swap))
}
