import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { delay } from '../bench/clock.ts'
import { startLiar } from '../liar.ts'
import { patience } from '../patience.ts'
import type { EvmChainName, NemesisEvent, PlannedFault } from './plan.ts'
import { persist } from './progress.ts'
import { reorg } from './reorg.ts'
import { blocksOf, type FaultContext, inTurn, type RunContext } from './run-context.ts'
import { actOnShape, calmShape, isOfShape } from './shape-faults.ts'

const ETH_USD = 2_500
export const STOLEN_ATTESTER = 2
// More than an earlier quote allows: nothing is locked or delivered while it lasts.
const SPIKE_WEI = 5_000_000_000n

/** Causes every planned fault at its time. Resolves when all are over. */
export async function causeFaults(
  field: RunContext,
  events: readonly NemesisEvent[],
  stop?: AbortSignal,
): Promise<void> {
  const start = Date.now()
  const wait = (ms: number) => sleep(ms, undefined, { ...(stop && { signal: stop }) }).catch(() => {})
  await Promise.all(
    events.map(async (event) => {
      await wait(start + event.at - Date.now())
      if (!stop?.aborted) await causeFault({ ...field, wait }, event)
    }),
  )
}

/** Causes one fault, after earlier ones of its kind. */
export async function causeFault(field: FaultContext, event: NemesisEvent): Promise<void> {
  const turn = turnOf(event)
  const done = turn ? inTurn(field.turns, turn, () => act(field, event)) : act(field, event)
  await done.catch((error: unknown) => field.ledger.fault('notDone', { event, why: String(error) }))
}

/**
 * A chain has one fault of its blocks at a time, since a reorg would undo the end of a halt. It has one wrong
 * node at a time, since two of three equal lies are the majority.
 */
function turnOf(event: NemesisEvent): string | undefined {
  if (event.kind === 'reorg' || event.kind === 'halt' || event.kind === 'deepReorg')
    return blocksOf(event.chain)
  if (event.kind === 'stolenAttester' || event.kind === 'priceMove') return event.kind
  return 'node' in event && event.node !== undefined ? `${event.chain} nodes` : undefined
}

async function act(field: FaultContext, event: NemesisEvent): Promise<void> {
  field.ledger.fault(event.kind, { event })
  return isOfShape(event) ? actOnShape(field, event) : cause(field, event)
}

async function cause(field: FaultContext, event: PlannedFault): Promise<void> {
  const { network, processes, pool, solana, wait } = field
  switch (event.kind) {
    case 'kill':
      return void processes.signal(event.role, event.index, 'SIGKILL')
    case 'pause':
      processes.signal(event.role, event.index, 'SIGSTOP')
      await wait(event.ms)
      return void processes.signal(event.role, event.index, 'SIGCONT')
    case 'killDatabase':
      return network.kill('postgres')
    case 'stallDatabase':
      return stall(pool, () => wait(event.ms))
    case 'reorg':
      return undo(field, event)
    case 'halt':
      return halt(field, event)
    case 'feeSpike':
      return spike(field, event)
    case 'clockJump':
      processes.setClock(event.role, event.index, event.aheadMs)
      await wait(event.ms)
      return processes.setClock(event.role, event.index, 0)
    case 'stale':
    case 'forked':
    case 'lying':
    case 'frozen':
    case 'blackHole':
      return lift(wait(event.ms), field.proxyOf(event.chain).cast(event))
    case 'solanaDrops':
      await solana.dev.dev_dropTransactions({ probability: event.percent / 100, seed: event.seed }).send()
      await wait(event.ms)
      return void (await solana.dev.dev_dropTransactions(0).send())
    case 'solanaDelays':
      return void (await solana.dev.dev_delayTransactions({ count: event.count, slots: event.slots }).send())
    case 'priceMove':
      return movePrice(field, event)
    case 'stolenAttester':
      return lieFor(field, () => wait(event.ms))
  }
}

// A reorg can undo the end of a move, and every later one would have to be undone as well.
const ENDS_OF_MOVE = 3
const BETWEEN_ENDS_MS = 3_000

async function movePrice(
  { world, wait }: FaultContext,
  { percent, ms }: Extract<PlannedFault, { kind: 'priceMove' }>,
): Promise<void> {
  await world.setPrice('ETH', ETH_USD * (1 + percent / 100))
  await wait(ms)
  for (let end = 0; end < ENDS_OF_MOVE; end += 1) {
    await world.setPrice('ETH', ETH_USD)
    await delay(BETWEEN_ENDS_MS)
  }
}

/** The holder of one attester's key and login lies, beside the attester itself. */
async function lieFor({ network, world }: FaultContext, over: () => Promise<void>): Promise<void> {
  const { attesters } = network.keys
  const key = attesters[STOLEN_ATTESTER]
  if (!key) throw new Error('There is no such attester')
  const liar = startLiar({
    key,
    others: attesters.flatMap(({ address }) => (address === key.address ? [] : address)),
    databaseUrl: network.databaseUrls.attesters[STOLEN_ATTESTER] ?? '',
    escrowOf: (chainId) => world.chains.find((chain) => chain.chainId === chainId)?.contracts.escrow,
  })
  await over()
  await liar.stop()
}

async function lift(over: Promise<void>, end: () => void): Promise<void> {
  await over
  end()
}

/** Otherwise it would fall by an eighth with every block that is not full. */
async function spike(field: FaultContext, event: Extract<PlannedFault, { kind: 'feeSpike' }>): Promise<void> {
  const { client } = field.world.chainNamed(event.chain)
  const { baseFeePerGas } = await client.getBlock()
  const halfBlock = field.blockMsOf(event.chain) / 2
  for (let left = event.ms; left > 0; left -= halfBlock) {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: SPIKE_WEI })
    await field.wait(halfBlock)
  }
  if (baseFeePerGas !== null) await client.setNextBlockBaseFeePerGas({ baseFeePerGas })
}

async function stall(pool: Pool, over: () => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table swaps in exclusive mode')
    await over()
  } finally {
    await client.query('rollback').catch(() => {})
    client.release(true)
  }
}

// Less than the service's finality on the local chains.
const DEEPEST = 3

async function undo(field: RunContext, event: Extract<PlannedFault, { kind: 'reorg' }>): Promise<void> {
  const { world, random, ledger } = field
  const undone = await reorg({
    chain: world.chainNamed(event.chain),
    depth: event.depth,
    deepest: Math.max(event.depth, DEEPEST),
    keeps: event.keeps,
    raws: field.proxyOf(event.chain).raws,
    random,
  })
  if (undone) ledger.fault('reorged', { chain: event.chain, ...undone })
}

async function halt(field: FaultContext, event: Extract<PlannedFault, { kind: 'halt' }>): Promise<void> {
  const chain = field.world.chainNamed(event.chain)
  const isJump = event.jumpSeconds > 0 && (await isCalm(field, event.chain))
  await chain.halt()
  await field.wait(event.ms)
  if (isJump) await chain.advance(event.jumpSeconds)
  await chain.resume()
  if (isJump) await field.wait(FINAL_BLOCKS * field.blockMsOf(event.chain))
}

// Deeper than any reorg.
const FINAL_BLOCKS = 6
const CALM_TRIES = 40 * patience

/**
 * Whether every reported delivery is final there. A delivery that a reorg reverted is repeated while there is
 * time, which the service ensures before it reports one. A clock jump in between, or a reorg behind the jump,
 * would remove that time, and no service could keep its promise.
 */
async function isCalm({ pool, world, wait, blockMsOf }: FaultContext, place: EvmChainName): Promise<boolean> {
  const { chainId } = world.chainNamed(place)
  for (let tried = 0; tried < CALM_TRIES; tried += 1) {
    const told = await pool
      .query(
        `select 1 from swaps where state in ('settled', 'claiming') and not delivery_final and destination_chain = $1`,
        [chainId],
      )
      .catch(() => ({ rowCount: 1 }))
    if (told.rowCount === 0) return true
    await wait(blockMsOf(place) / 2)
  }
  return false
}

/** Ends all faults that still last, also on a busy machine. */
export async function endFaults({ world, solana, chainNames }: RunContext): Promise<void> {
  await Promise.all(chainNames.map((place) => persist(() => world.chainNamed(place).resume())))
  await persist(() => calmShape(world.local))
  await persist(() => solana.dev.dev_dropTransactions(0).send())
  await persist(() => solana.dev.dev_delayTransactions({ count: 0, slots: 0 }).send())
  await persist(() => world.setPrice('ETH', ETH_USD))
}
