import { controlShape } from '@geoswap/devnet'
import { delay } from '../bench/clock.ts'
import type { LocalNetwork } from '../world.ts'
import type { NemesisEvent, ShapeFault } from './plan.ts'
import { blocksOf, type FaultContext, inTurn, type RunContext } from './run-context.ts'

// Faults of chains of a public shape, and of their providers.

const KINDS: Record<ShapeFault['kind'], true> = {
  finalityStall: true,
  slowFinality: true,
  backendLag: true,
  rateLimit: true,
  l1Spike: true,
  silentSocket: true,
  lapse: true,
  deepReorg: true,
}
const SLOW = 3
const GENTLE_MS = 15_000

export function isOfShape(event: NemesisEvent): event is { at: number } & ShapeFault {
  return event.kind in KINDS
}

export async function actOnShape(field: FaultContext, event: ShapeFault): Promise<void> {
  const { wait } = field
  if (event.kind === 'lapse') return lapseGently(field, event.seconds)
  const url = controlOf(field.world.local, event.chain)
  switch (event.kind) {
    case 'finalityStall':
      await controlShape(url, 'shape_haltFinality')
      await wait(event.ms)
      return void (await controlShape(url, 'shape_resumeFinality'))
    case 'slowFinality':
      await controlShape(url, 'shape_setFinalityLag', SLOW)
      await wait(event.ms)
      return void (await controlShape(url, 'shape_setFinalityLag', 1))
    case 'backendLag':
      await controlShape(url, 'shape_setBackendLag', event.blocks)
      await wait(event.ms)
      return void (await controlShape(url, 'shape_setBackendLag', null))
    case 'rateLimit':
      await controlShape(url, 'shape_setRateLimit', event.callsPerSecond)
      await wait(event.ms)
      return void (await controlShape(url, 'shape_setRateLimit', null))
    case 'l1Spike':
      await controlShape(url, 'shape_setL1PriceFactor', event.factor)
      await wait(event.ms)
      return void (await controlShape(url, 'shape_setL1PriceFactor', 1))
    case 'silentSocket':
      return void (await controlShape(url, 'shape_silenceSubscriptions'))
    case 'deepReorg':
      return undoDeep(field, event)
  }
}

const UNTAKEN = `select 1 from swaps where state in ('accepted', 'locking') limit 1`
const LOOK_MS = 250

/** Whether every pending input is locked within this time. */
export async function untilTaken({ pool }: Pick<RunContext, 'pool'>, withinMs: number): Promise<boolean> {
  for (const end = Date.now() + withinMs; Date.now() < end; await delay(LOOK_MS)) {
    const found = await pool.query(UNTAKEN).catch(() => undefined)
    if (found?.rowCount === 0) return true
  }
  return false
}

/** Most inputs are locked by then: the signatures of the others are too old afterwards. */
async function lapseGently(field: FaultContext, seconds: number): Promise<void> {
  field.admission.isClosed = true
  await untilTaken(field, GENTLE_MS)
  await lapse(field, seconds).finally(() => {
    field.admission.isClosed = false
  })
}

/** Advances every chain by the same time, when none of them has a fault of its blocks. */
export async function lapse(
  { world, turns, chainNames }: Pick<RunContext, 'world' | 'turns' | 'chainNames'>,
  seconds: number,
): Promise<void> {
  const advance = (name: string) => controlShape(controlOf(world.local, name), 'shape_advance', seconds)
  let missing = chainNames.length
  let open = () => {}
  const allHere = new Promise<void>((resolve) => {
    open = resolve
  })
  const evm = chainNames.map((place) =>
    inTurn(turns, blocksOf(place), async () => {
      missing -= 1
      if (missing === 0) open()
      await allHere
      await advance(place)
    }),
  )
  await Promise.all([...evm, allHere.then(() => advance('solana'))])
}

type DeepReorg = Extract<ShapeFault, { kind: 'deepReorg' }>

/**
 * Reverts all blocks of this time span, and none of their transactions returns: when the chain resumes, the
 * ops that were locked in them are too old. Their outputs are lost.
 */
async function undoDeep(field: FaultContext, event: DeepReorg): Promise<void> {
  const chain = field.world.chainNamed(event.chain)
  await chain.halt()
  const from = await chain.client.getBlockNumber({ cacheTime: 0 })
  const id = await chain.client.snapshot()
  await chain.resume()
  const began = Date.now()
  await field.wait(event.mostMs)
  await chain.halt()
  try {
    const head = await chain.client.getBlockNumber({ cacheTime: 0 })
    await chain.client.revert({ id })
    const url = controlOf(field.world.local, event.chain)
    await controlShape(url, 'shape_advance', event.jumpSeconds + Math.ceil((Date.now() - began) / 1_000))
    field.ledger.fault('deeplyReorged', { chain: event.chain, blocks: Number(head - from) })
  } finally {
    await chain.resume()
  }
}

/** Resets everything to the values of the shape, if there is one. */
export async function calmShape(local: Pick<LocalNetwork, 'chains'>): Promise<void> {
  for (const { shape, family } of local.chains) {
    if (!shape) continue
    const url = shape.controlUrl
    await controlShape(url, 'shape_resumeFinality')
    await controlShape(url, 'shape_setBackendLag', null)
    await controlShape(url, 'shape_setRateLimit', null)
    if (family === 'solana') continue
    await controlShape(url, 'shape_setFinalityLag', 1)
    await controlShape(url, 'shape_setL1PriceFactor', 1)
  }
}

function controlOf({ chains }: Pick<LocalNetwork, 'chains'>, place: string): string {
  const url = chains.find(({ name }) => name === place)?.shape?.controlUrl
  if (!url) throw new Error(`${place} does not behave like a public chain`)
  return url
}
