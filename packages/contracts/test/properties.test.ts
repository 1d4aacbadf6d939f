import * as fc from 'fast-check'
import type { PrivateKeyAccount } from 'viem'
import { expect, test } from 'vitest'
import { readTime, setNextTime } from '../scripts/chain.ts'
import { readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import {
  claimMany,
  createSwap,
  deliver,
  deliverMany,
  indexOf,
  lock,
  lockMany,
  readState,
  refund,
  refundAttested,
  type Swap,
} from './op.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  deployListed,
  readBalance,
  readEvents,
  type World,
  withRevert,
} from './world.ts'

const world = await createWorld()
const token = await deployListed(world, 'BlockToken')
const wallets: PrivateKeyAccount[] = []
for (let i = 0; i < 3; i++) wallets.push(await createWallet(world, token, 2_000n))
isolate(world)

const setBlocked = (holder: World['vault'], value: boolean) =>
  callTestContract(world, {
    name: 'BlockToken',
    to: token,
    functionName: 'setBlocked',
    args: [holder, value],
  })

/** The observed history of each op. */
type History = {
  swaps: Swap[]
  rounds: Map<number, number>
  locked: Set<string>
  outcomes: Map<string, string>
  delivered: Map<string, number>
}
type Step =
  | { kind: 'lock'; wallet: number; position: number; skip: number; amount: number }
  | { kind: 'deliver' | 'claim' | 'refund' | 'refundEarly' | 'relock'; pick: number }
  | { kind: 'wait' }
  | { kind: 'block' | 'unblock'; holder: number }

const pick = fc.nat(30)
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('lock' as const),
      wallet: fc.nat(2),
      position: fc.nat(5),
      skip: fc.nat(3),
      amount: fc.integer({ min: 1, max: 900 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('deliver' as const, 'claim' as const, 'refund' as const, 'refundEarly' as const),
      pick,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('relock' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('block' as const, 'block' as const, 'unblock' as const),
      holder: fc.nat(3),
    }),
  },
)

const createHistory = (): History => ({
  swaps: [],
  rounds: new Map(),
  locked: new Set(),
  outcomes: new Map(),
  delivered: new Map(),
})

/** Runs one step; a refusal is a valid result. */
async function run(history: History, step: Step): Promise<void> {
  const receipt = await send(history, step).catch(() => undefined)
  if (!receipt) return
  for (const { name, id } of readEvents(world, receipt)) {
    happened.set(name, (happened.get(name) ?? 0) + 1)
    if (name === 'Locked') history.locked.add(id)
    if (name === 'Delivered') history.delivered.set(id, (history.delivered.get(id) ?? 0) + 1)
    if (name !== 'Claimed' && name !== 'Refunded') continue
    expect(history.outcomes.get(id)).toBeUndefined()
    expect(history.locked).toContain(id)
    history.outcomes.set(id, name)
  }
}

async function send(history: History, step: Step) {
  const { swaps } = history
  if (step.kind === 'lock') return sendLock(history, step)
  if (step.kind === 'wait')
    return setNextTime(world.chain, (await readTime(world.chain)) + 20_000n).then(() => undefined)
  if ('holder' in step) return setBlocked(wallets[step.holder]?.address ?? world.vault, step.kind === 'block')
  const swap = swaps[step.pick % Math.max(1, swaps.length)]
  if (!swap) return undefined
  if (step.kind === 'deliver') return step.pick % 2 ? deliver(world, swap) : deliverMany(world, [swap, swap])
  if (step.kind === 'claim') return claimMany(world, swaps.slice(-3).concat(swap))
  if (step.kind === 'refund') return refund(world, swap)
  if (step.kind === 'relock') return lockMany(world, swaps.slice(-2).concat(swap))
  return refundAttested(world, swap)
}

/** A skip of 0 issues the position's last round again, which must be refused. */
async function sendLock({ swaps, rounds }: History, step: Extract<Step, { kind: 'lock' }>) {
  const wallet = wallets[step.wallet]
  if (!wallet) throw new Error('no such wallet')
  const round = (rounds.get(step.position) ?? 1) + step.skip
  rounds.set(step.position, round)
  const index = indexOf(round, step.position)
  const swap = await createSwap(world, wallet, { inputToken: token, inputAmount: BigInt(step.amount), index })
  swaps.push(swap)
  return lock(world, swap)
}

/** The funds the escrow must be able to pay: the LOCKED inputs and the credits. */
async function readOwed({ swaps }: History): Promise<bigint> {
  let owed = await readEscrow(world, 'credits', [world.vault, token])
  for (const { address } of wallets) owed += await readEscrow(world, 'credits', [address, token])
  const unique = new Map(swaps.map((swap) => [swap.hash, swap]))
  for (const swap of unique.values())
    if ((await readState(world, swap)) === 'LOCKED') owed += swap.op.inputAmount
  return owed
}

/** Counts each kind of step over all runs: without steps the property would prove nothing. */
const happened = new Map<string, number>()

test('in any order of calls the escrow covers what is due, and each op has one outcome and one delivery', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 15, maxLength: 30 }), (sequence) =>
      withRevert(world, async () => {
        const history: History = createHistory()
        const holders = [...wallets.map(({ address }) => address), world.vault, world.escrow]
        const total = await sum(holders)
        for (const step of sequence) await run(history, step)

        expect(await readBalance(world, token, world.escrow)).toBe(await readOwed(history))
        expect([...history.delivered.values()].every((times) => times === 1)).toBe(true)
        expect(await sum(holders)).toBe(total)
      }),
    ),
    { numRuns: 30, seed: 20_260_101 },
  )
  const names = ['Locked', 'LockFailed', 'Delivered', 'DeliverFailed', 'Claimed', 'Refunded', 'Credited']
  expect([...happened.keys()].sort()).toEqual(names.sort())
})

async function sum(holders: readonly World['vault'][]): Promise<bigint> {
  const balances = await Promise.all(holders.map((holder) => readBalance(world, token, holder)))
  return balances.reduce((all, one) => all + one, 0n)
}
