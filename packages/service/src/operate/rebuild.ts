import type { Summary } from '../books/rebuild/apply.ts'
import { type Env, type Output, parseFlags, UsageError, withDatabase } from '../command.ts'
import { runRebuild } from '../compose/rebuild.ts'
import type { NetworkConfig } from '../config.ts'
import { findNetwork, getChainConfig } from './served.ts'

export const REBUILD_HELP = `rebuild [--from CHAIN:BLOCK]... [--json]
      After a restore: updates the database from the chains, without sending anything. Stop every process first.
      It waits until no earlier signature can be locked any more. --from is the first block to read of a chain
      (default: where its books end, or its beginning if there are none).`

/** Signs and sends nothing: worker and attester later complete open swaps by their own rules. */
export async function rebuildDatabase(args: string[], env: Env, output: Output): Promise<number> {
  const options = { from: { type: 'string', multiple: true }, json: { type: 'boolean' } } as const
  const { values } = parseFlags({ args, options })
  const network = findNetwork(env)
  const firstBlocks = new Map((values.from ?? []).map((text) => parseFrom(network, text)))
  const summary = await withDatabase(env, 'rebuild', (pool) =>
    runRebuild({ network, pool, firstBlocks, say: output.hint }),
  )
  output.out(values.json ? JSON.stringify(summary, null, 2) : describe(summary))
  return 0
}

function parseFrom(network: NetworkConfig, text: string): [number, bigint] {
  const [chain = '', block = ''] = text.split(':')
  if (!/^\d+$/.test(block)) throw new UsageError('--from is CHAIN:BLOCK, for example --from alpha:1200.')
  return [getChainConfig(network, chain).chainId, BigInt(block)]
}

function describe(summary: Summary): string {
  const { isLogLost, epoch, recovered, orphans, unclaimable, moved, uncertain, unreadable } = summary
  const lines = [
    isLogLost ? `rows were lost: starting epoch ${epoch}` : 'this database has all transactions of its keys',
    `${moved} swaps were further along on a chain than here`,
    `${recovered} swaps were on a chain but not here; of ${orphans} only the input is known`,
    `${uncertain} swaps wait for a deadline: only their claim or refund can still be signed`,
  ]
  if (unclaimable.length > 0) lines.push(`delivered, but not claimable by us: ${unclaimable.join(', ')}`)
  if (unreadable.length > 0) lines.push(`unexplained locks: ${unreadable.join(', ')}`)
  return lines.join('\n')
}
