import { type Env, type Output, parseFlags, toTable, UsageError, withDatabase } from '../command.ts'
import { findActiveStops, raiseStop, resumeStop } from '../store/stops.ts'
import { describeScope, type StopScope } from '../swap/stop.ts'
import { findNetworkNames, getAssetName, getChainConfig, parseSide } from './served.ts'

export const STOPS_HELP = `pause [SCOPE] --note TEXT [--by NAME]
      Stops quotes of this scope on every API process. Submitted swaps are completed.
  service resume [SCOPE | --stop ID] --note TEXT [--by NAME]
      Ends all stops of exactly this scope, or the one with this id.
  service stops [--json]
      Lists the active stops, with time and reason.

  SCOPE is empty (everything), --chain CHAIN, --asset ASSET, both, or --from CHAIN:TOKEN --to CHAIN:TOKEN.
  A chain is an id or a name, a token a symbol or an address.`

const text = { type: 'string' } as const
const scope = { chain: text, asset: text, from: text, to: text }
const reason = { note: text, by: text }
// Unknown options are refused: an overlooked scope would stop everything.
const OPTIONS = {
  pause: { ...scope, ...reason },
  resume: { ...scope, ...reason, stop: text },
  stops: { json: { type: 'boolean' } },
} as const

type Scope = Partial<Record<keyof typeof scope, string>>
type Reason = Partial<Record<keyof typeof reason, string>>

export async function pause(args: string[], env: Env, output: Output): Promise<number> {
  const flags = parseFlags({ args, options: OPTIONS.pause }).values
  const note = getNote(flags)
  const scope = toScope(env, flags)
  const by = nameOf(env, flags)
  const { id, isNew } = await withDatabase(env, 'pause', (pool) =>
    raiseStop(pool, { why: 'operator', scope, note, by }),
  )
  output.hint(isNew ? `Stopped ${describeScope(scope)}: stop ${id}.` : `Already stopped: stop ${id}.`)
  return 0
}

export async function resume(args: string[], env: Env, output: Output): Promise<number> {
  const flags = parseFlags({ args, options: OPTIONS.resume }).values
  const note = getNote(flags)
  const by = nameOf(env, flags)
  const isMeant = toFilter(env, flags)
  await withDatabase(env, 'resume', async (pool) => {
    const meant = (await findActiveStops(pool)).filter(isMeant)
    if (meant.length === 0) throw new UsageError('Unknown stop. service stops lists the active ones.')
    for (const { id, scope } of meant) {
      await resumeStop(pool, { id, by, note })
      output.hint(`Resumed ${describeScope(scope)}: stop ${id}.`)
    }
  })
  return 0
}

export async function listStops(args: string[], env: Env, output: Output): Promise<number> {
  const { json } = parseFlags({ args, options: OPTIONS.stops }).values
  const stops = await withDatabase(env, 'stops', findActiveStops)
  const rows = stops.map(({ id, why, scope, since, by, note }) => [
    id,
    why,
    describeScope(scope),
    since.toISOString(),
    by,
    note,
  ])
  const table = () => toTable([['ID', 'WHY', 'WHAT', 'SINCE', 'BY', 'NOTE'], ...rows])
  output.out(json ? JSON.stringify(stops, null, 2) : table())
  return 0
}

type Stop = { id: string; scope: StopScope }

function toFilter(env: Env, flags: Scope & { stop?: string }): (stop: Stop) => boolean {
  if (flags.stop === undefined) {
    const wanted = describeScope(toScope(env, flags))
    return ({ scope }) => describeScope(scope) === wanted
  }
  if (flags.chain ?? flags.asset ?? flags.from ?? flags.to)
    throw new UsageError('Use either --stop ID or a scope.')
  return ({ id }) => id === flags.stop
}

function toScope(env: Env, { chain, asset, from, to }: Scope): StopScope {
  if (chain === undefined && asset === undefined && from === undefined && to === undefined)
    return { kind: 'part' }
  const network = findNetworkNames(env)
  if (from === undefined && to === undefined) {
    return {
      kind: 'part',
      chainId: chain !== undefined ? getChainConfig(network, chain).chainId : undefined,
      asset: asset !== undefined ? getAssetName(network, asset) : undefined,
    }
  }
  if (from === undefined || to === undefined || chain !== undefined || asset !== undefined)
    throw new UsageError('A route needs --from CHAIN:TOKEN and --to CHAIN:TOKEN, and no other scope.')
  return { kind: 'route', from: parseSide(network, from), to: parseSide(network, to) }
}

function getNote({ note }: Reason): string {
  if (note?.trim()) return note.trim()
  throw new UsageError('--note is required: the reason, for later readers.')
}

const nameOf = (env: Env, { by }: Reason) => by ?? env.USER ?? 'operator'
