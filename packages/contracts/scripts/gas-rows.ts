import { encodeFunctionData, type Hex, type PrivateKeyAccount } from 'viem'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import {
  claimMany,
  createSwap,
  deliver,
  deliverMany,
  indexOf,
  lock,
  lockMany,
  refund,
  type Swap,
  type Terms,
} from '../test/op.ts'
import {
  authorize,
  createSponsor,
  createWallet,
  createWorld,
  mint,
  NATIVE,
  undone,
  type World,
} from '../test/world.ts'
import * as evm from './chain.ts'

/** One measured kind of transaction. `goal` is what it may cost per op; it is never raised to fit. */
export type GasRow = { name: string; goal: number; gas: number }

/** Amounts as they are on a chain: a dollar token with 6 decimals, so that calldata has its true weight. */
const inputAmount = 1_234_567_890n
const outputAmount = 1_233_950_123n
const minOutput = 1_227_811_111n
const sponsorKey: Hex = `0x${'51'.repeat(32)}`

type Scene = { world: World; wallets: PrivateKeyAccount[]; sponsor: PrivateKeyAccount }

/**
 * Measures gas per op in steady state: positions, lanes and caps are in use, balances are not zero before or
 * after, wallets are delegated, the token is OpenZeppelin's ERC-20.
 */
export async function measureRows(): Promise<GasRow[]> {
  const scene = await createScene()
  const measured: [string, number, (scene: Scene) => Promise<bigint>][] = [
    ['lock, one per transaction', 58_500, lockOne],
    ['lock, 5 per transaction', 34_000, (each) => lockBatch(each, 5)],
    ['lock, 20 per transaction', 29_000, (each) => lockBatch(each, 20)],
    ['first op with its authorization', 82_000, (each) => lockFirst(each, 3)],
    ['first op with its authorization, on a never-used position', 99_000, (each) => lockFirst(each, 77)],
    ['delivery, one per transaction', 54_500, (each) => deliverOne(each, each.world.token)],
    ['delivery, 20 per transaction', 15_500, deliverBatch],
    ['native delivery, one per transaction', 48_500, (each) => deliverOne(each, NATIVE)],
    ['claim, 20 per transaction', 12_500, claimBatch],
    ['refund by anyone', 48_500, refundOne],
  ]
  const rows: GasRow[] = []
  for (const [name, goal, measure] of measured) {
    rows.push({ name, goal, gas: Number(await undone(scene.world, () => measure(scene))) })
  }
  return rows
}

/** Twenty wallets that have each been through a whole swap, on twenty positions. */
async function createScene(): Promise<Scene> {
  const world = await createWorld()
  const sponsor = await createSponsor(world, sponsorKey)
  const wallets: PrivateKeyAccount[] = []
  for (let i = 0; i < 20; i++) wallets.push(await createWallet(world, world.token, inputAmount * 10n))
  await mint(world, { token: world.token, to: world.escrow, amount: 1n })
  const swaps = await createSwaps({ world, wallets, sponsor }, 1)
  await lockMany(world, swaps)
  await deliverMany(world, swaps)
  await claimMany(world, swaps)
  return { world, wallets, sponsor }
}

function createSwaps({ world, wallets }: Scene, round: number, terms: Terms = {}): Promise<Swap[]> {
  return Promise.all(
    wallets.map((wallet, position) =>
      createSwap(world, wallet, {
        inputAmount,
        minOutput,
        amountOut: outputAmount,
        recipient: recipientOf(position),
        index: indexOf(round, position),
        ...terms,
      }),
    ),
  )
}

const recipientOf = (position: number): Hex => `0x${'c0ffee'.repeat(6)}${(0xc100 + position).toString(16)}`

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

/** A new wallet holds tokens and nothing else: its account does not exist before the transaction. */
async function lockFirst({ world, sponsor }: Scene, position: number): Promise<bigint> {
  const wallet = (await import('viem/accounts')).privateKeyToAccount(`0x${'77'.repeat(32)}`)
  await mint(world, { token: world.token, to: wallet.address, amount: inputAmount * 2n })
  const ready = await createPosition(world, sponsor, position)
  const swap = await createSwap(world, wallet, { inputAmount, index: ready, locker: sponsor.address })
  const authorizations = [await authorize(world, wallet, world.account)]
  const data = encodeFunctionData({
    abi: geoEscrowAbi,
    functionName: 'lock',
    args: [swap.op, swap.r, swap.vs],
  })
  return (await evm.sendSigned(world.chain, sponsor, { to: world.escrow, data, authorizations })).gasUsed
}

/** Uses the sponsor's position once, unless it is to be a fresh one, and returns the next index. */
async function createPosition(world: World, sponsor: PrivateKeyAccount, position: number): Promise<bigint> {
  if (position > 20) return indexOf(2, position)
  const wallet = await createWallet(world)
  const swap = await createSwap(world, wallet, { index: indexOf(1, position), locker: sponsor.address })
  const data = encodeFunctionData({
    abi: geoEscrowAbi,
    functionName: 'lock',
    args: [swap.op, swap.r, swap.vs],
  })
  await evm.sendSigned(world.chain, sponsor, { to: world.escrow, data })
  await claimMany(world, [swap])
  return indexOf(2, position)
}

async function deliverOne(scene: Scene, outputToken: Hex): Promise<bigint> {
  const { world } = scene
  const recipient = outputToken === NATIVE ? evm.getAccount(world.chain, 8) : recipientOf(0)
  const swap = await createOne(scene, { outputToken, recipient })
  if (outputToken === NATIVE) await spendOnce(world)
  return (await deliver(world, swap)).gasUsed
}

/** Puts the native cap's word in use, and the stranger's account as a recipient. */
async function spendOnce(world: World): Promise<void> {
  const wallet = await createWallet(world)
  const terms = { outputToken: NATIVE, recipient: world.stranger, index: indexOf(1, 40) }
  await deliver(world, await createSwap(world, wallet, terms))
}

async function deliverBatch(scene: Scene): Promise<bigint> {
  return (await deliverMany(scene.world, await createSwaps(scene, 2))).gasUsed / 20n
}

async function claimBatch(scene: Scene): Promise<bigint> {
  const swaps = await createSwaps(scene, 2)
  await lockMany(scene.world, swaps)
  return (await claimMany(scene.world, swaps)).gasUsed / 20n
}

async function refundOne(scene: Scene): Promise<bigint> {
  const swap = await createOne(scene)
  await lock(scene.world, swap)
  await evm.setNextTime(scene.world.chain, swap.op.refundDeadline + 1n)
  return (await refund(scene.world, swap)).gasUsed
}
