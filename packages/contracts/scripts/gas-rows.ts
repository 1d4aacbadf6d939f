import { type Address, encodeFunctionData, type PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { testTokenAbi, testTokenBytecode } from '../../protocol/src/abi/test-token.gen.ts'
import {
  claimMany,
  createSwap,
  deliver,
  deliverMany,
  indexOf,
  lock,
  lockMany,
  refund,
  type Signers,
  type Swap,
  type Terms,
} from '../test/op.ts'
import { createPool, createUniswap, deliverBought } from '../test/uniswap.ts'
import {
  attester,
  attesters,
  authorize,
  createSponsor,
  createWallet,
  createWorld,
  mint,
  NATIVE,
  type World,
} from '../test/world.ts'
import * as evm from './chain.ts'
import {
  amounts,
  deadlines,
  type GasRow,
  initialDate,
  inputAmount,
  keyOf,
  type Measured,
  measureAll,
  type Scene,
  start,
} from './gas-scene.ts'
import { measureWaysIn } from './gas-ways-in.ts'

/**
 * Measures gas per op in steady state: positions, lanes and caps are in use, balances are never zero, wallets
 * are delegated, and recipients have no code. The token is OpenZeppelin's ERC-20. A batch has one locker, one
 * ring and one token.
 */
export async function measureRows(): Promise<GasRow[]> {
  const scene = await createScene(await createWorld({ initialDate }))
  const measured: Measured[] = [
    ['lock, one per transaction', 58_500, lockOne],
    ['lock, 5 per transaction', 34_000, (each) => lockBatch(each, 5)],
    ['lock, 20 per transaction', 29_000, (each) => lockBatch(each, 20)],
    ['first op, with its authorization', 82_000, (each) => lockFirst(each, indexOf(2, 0))],
    ['first op, on a never-used position', 99_000, (each) => lockFirst(each, indexOf(2, 1))],
    ['delivery, one per transaction', 54_600, (each) => deliverOne(each, each.world.token, recipientOf(0))],
    ['delivery, 20 per transaction', 15_600, deliverBatch],
    [
      'native delivery, one per transaction',
      48_500,
      (each) => deliverOne(each, NATIVE, each.world.secondLocker),
    ],
    ['delivery, bought from a Uniswap V3 pool', 140_000, (each) => deliverBoughtOne(each, 2_020n)],
    ['delivery, bought for the whole budget', 193_000, (each) => deliverBoughtOne(each, 1_990n)],
    ['claim, 20 per transaction', 12_500, (each) => claimBatch(each)],
    ['refund by anyone', 48_500, refundOne],
  ]
  return [...(await measureAll(scene, measured)), ...(await measureWaysIn()), ...(await measureSets())]
}

/** Two of three attesters, one signature more than in the other rows. */
async function measureSets(): Promise<GasRow[]> {
  const signers = attesters.slice(1)
  const members = attesters.map(({ address }) => address)
  const scene = await createScene(await createWorld({ initialDate, members, threshold: 2n }), signers)
  const measured: Measured[] = [
    ['claim, 20 per transaction, two signatures', 13_500, (each) => claimBatch(each, signers)],
  ]
  return measureAll(scene, measured)
}

/** Twenty wallets that have each completed a swap on their own position. */
async function createScene(world: World, signers: Signers = [attester]): Promise<Scene> {
  const sponsor = await createSponsor(world, keyOf('sponsor'))
  const wallets: PrivateKeyAccount[] = []
  for (let i = 0; i < 20; i++) {
    wallets.push(await createWallet(world, world.token, inputAmount * 10n, keyOf(`wallet ${i}`)))
  }
  const scene = { world, wallets, sponsor }
  await mint(world, { token: world.token, to: world.escrow, amount: 1n })
  const swaps = await createSwaps(scene, 1)
  await lockMany(world, swaps)
  await deliverMany(world, swaps)
  await claimMany(world, swaps, { signers })
  await useSponsorPosition(scene, signers)
  const [native] = await createSwaps(scene, 1, { index: indexOf(1, 40), outputToken: NATIVE })
  if (native) await deliver(world, native)
  return scene
}

/** The sponsor is a locker too, with one used position. */
async function useSponsorPosition({ world, wallets, sponsor }: Scene, signers: Signers): Promise<void> {
  const [wallet] = wallets
  if (!wallet) throw new Error('the scene has no wallet')
  const terms = { ...amounts, ...deadlines, index: indexOf(1, 0), locker: sponsor.address }
  const swap = await createSwap(world, wallet, terms)
  await evm.sendSigned(world.chain, sponsor, { to: world.escrow, data: encodeLock(swap) })
  await claimMany(world, [swap], { signers })
}

function createSwaps({ world, wallets }: Scene, round: number, terms: Terms = {}): Promise<Swap[]> {
  const create = (wallet: PrivateKeyAccount, position: number) => {
    const own = { recipient: recipientOf(position), index: indexOf(round, position) }
    return createSwap(world, wallet, { ...amounts, ...deadlines, ...own, ...terms })
  }
  return Promise.all(wallets.map(create))
}

const recipientOf = (position: number): Address => privateKeyToAccount(keyOf(`recipient ${position}`)).address
const encodeLock = ({ op, r, vs }: Swap) =>
  encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lock', args: [op, r, vs] })

async function createOne(scene: Scene, terms: Terms = {}): Promise<Swap> {
  const [swap] = await createSwaps({ ...scene, wallets: scene.wallets.slice(0, 1) }, 2, terms)
  if (!swap) throw new Error('the scene has no wallet')
  return swap
}

async function lockOne(scene: Scene): Promise<bigint> {
  return (await lock(scene.world, await createOne(scene))).gasUsed
}

async function lockBatch(scene: Scene, size: number): Promise<bigint> {
  const swaps = await createSwaps({ ...scene, wallets: scene.wallets.slice(0, size) }, 2)
  return (await lockMany(scene.world, swaps)).gasUsed / BigInt(size)
}

/** A new wallet holds only tokens: its account does not exist before the transaction. */
async function lockFirst({ world, sponsor }: Scene, index: bigint): Promise<bigint> {
  const wallet = privateKeyToAccount(keyOf('new wallet'))
  await mint(world, { token: world.token, to: wallet.address, amount: inputAmount * 2n })
  const terms = { ...amounts, ...deadlines, index, locker: sponsor.address }
  const data = encodeLock(await createSwap(world, wallet, terms))
  const authorizations = [await authorize(world, wallet, world.account)]
  return (await evm.sendSigned(world.chain, sponsor, { to: world.escrow, data, authorizations })).gasUsed
}

async function deliverOne(scene: Scene, outputToken: Address, recipient: Address): Promise<bigint> {
  return (await deliver(scene.world, await createOne(scene, { outputToken, recipient }))).gasUsed
}

async function deliverBatch(scene: Scene): Promise<bigint> {
  return (await deliverMany(scene.world, await createSwaps(scene, 2))).gasUsed / 20n
}

/**
 * Buys a hundred tokens at 20 dollars from a pool with a fee of 0.3 % that was traded before. They cost about
 * 2,007 dollars. With a smaller budget, the purchase of exactly a hundred fails first, and then the whole
 * budget is spent.
 */
async function deliverBoughtOne(scene: Scene, dollars: bigint): Promise<bigint> {
  const { world } = scene
  const uniswap = await createUniswap(world)
  const code = { abi: testTokenAbi, bytecode: testTokenBytecode }
  const outputToken = await evm.deploy(world.chain, code, ['Link', 'LINK', 18])
  const sides = [side(world.token, 10_000_000n, 6), side(outputToken, 500_000n, 18)] as const
  await createPool(world, uniswap, { sides, fee: 3_000 })
  const wanted = 100n * 10n ** 18n
  const terms = { outputToken, minOutput: (wanted * 97n) / 100n, amountOut: (wanted * 97n) / 100n }
  const purchase = { tokenIn: world.token, maxIn: dollars * 10n ** 6n, fee: 3_000, wanted }

  // A pool records its price once a second: the trades are apart, however fast this runs.
  const buyAt = async (round: number, time: bigint) => {
    const swap = await createOne(scene, { ...terms, index: indexOf(round, 0) })
    await evm.setNextTime(world.chain, time)
    return deliverBought(world, uniswap, swap, purchase)
  }

  await buyAt(2, start + 1_800n)
  return (await buyAt(3, start + 1_860n)).gasUsed
}

const side = (token: Address, whole: bigint, decimals: number) => ({
  token,
  amount: whole * 10n ** BigInt(decimals),
})

async function claimBatch(scene: Scene, signers: Signers = [attester]): Promise<bigint> {
  const swaps = await createSwaps(scene, 2)
  await lockMany(scene.world, swaps)
  return (await claimMany(scene.world, swaps, { signers })).gasUsed / 20n
}

async function refundOne(scene: Scene): Promise<bigint> {
  const swap = await createOne(scene)
  await lock(scene.world, swap)
  await evm.setNextTime(scene.world.chain, swap.op.refundDeadline + 1n)
  return (await refund(scene.world, swap)).gasUsed
}
