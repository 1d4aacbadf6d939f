import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Summary } from '../books/rebuild/apply.ts'
import type { RebuildChain } from '../books/rebuild/facts.ts'
import { findLost } from '../books/rebuild/lost-log.ts'
import { resolveOrphans } from '../books/rebuild/orphans.ts'
import { rebuild } from '../books/rebuild/rebuild.ts'
import type { Rules } from '../books/rebuild/terms.ts'
import type { ConnectedChain } from '../chains/families.ts'
import type { ChainConfig, NetworkConfig } from '../config.ts'
import type { Task } from '../engine/lane.ts'
import { mapOwn } from '../isolate.ts'
import type { Logger } from '../observe/logger.ts'
import { deadlinesFrom, type RouteTimes } from '../swap/deadlines.ts'
import { blockSecondsOf, MAX_SLOWDOWN } from '../swap/finality.ts'
import { venueOfDelivery } from '../venues/registry.ts'
import { type Chains, connectForCommand, findDifferences } from './chains.ts'

type Options = {
  network: NetworkConfig
  pool: Pool
  /** The first block to read of a chain; by default where its ledger ends, or its beginning. */
  firstBlocks: ReadonlyMap<number, bigint>
  say(line: string): void
}

const WAIT_MS = 500
const ORPHANS_MS = 5_000

function rulesOf(network: NetworkConfig, chains: Chains): Rules {
  return {
    custodyOf: chains.custodyOf,
    deadlines: network.deadlines,
    finalityOf: (origin, destination) => ({
      originSeconds: chains.of(origin).config.finality.hardSeconds,
      destinationSeconds: chains.of(destination).config.finality.hardSeconds,
    }),
  }
}

/** Compares the database with every chain. Needs no key: nothing is signed. */
export async function runRebuild({ network, pool, firstBlocks, say }: Options): Promise<Summary> {
  const chains = connectForCommand(network)
  const { problems } = await findDifferences(chains)
  if (problems.length > 0) throw new Error(`The chains are not as configured:\n- ${problems.join('\n- ')}`)
  const isLogLost = (await findLost(pool, chains.all)).length > 0
  const rules = rulesOf(network, chains)
  const slowest = slowestOf(network.chains)
  return rebuild({
    ...rules,
    pool,
    say,
    isLogLost,
    firstBlocks,
    chains: chains.all.map((connected) => toRebuildChain(connected)),
    latestDeadlines: (seconds) =>
      deadlinesFrom(rules.deadlines, { originSeconds: seconds, destinationSeconds: seconds }, slowest),
    venueOf: (chainId, adapter) => venueOfDelivery(network, chainId, adapter),
    newSwapId: () => `swp_${randomBytes(16).toString('hex')}`,
    wait: () => delay(WAIT_MS),
  })
}

/** A route between two chains that are as slow as the slowest may become. */
function slowestOf(chains: readonly ChainConfig[]): RouteTimes {
  const rules = chains.map(({ finality }) => finality)
  const hardSeconds = MAX_SLOWDOWN * Math.max(...rules.map((each) => each.hardSeconds))
  return {
    originSeconds: hardSeconds,
    destinationSeconds: hardSeconds,
    reorgWindowSeconds: Math.max(...rules.map((each) => each.reorgWindowSeconds)),
    originBlockSeconds: Math.max(...chains.map(blockSecondsOf)),
  }
}

function toRebuildChain({
  chain,
  config,
  nativeToken,
  custody,
  recovery,
  senders,
}: ConnectedChain): RebuildChain {
  return {
    chain,
    custody,
    recovery,
    senders: Object.values(senders).flat(),
    async readClaimed() {
      const tokens = [nativeToken.address, ...config.tokens.map(({ address }) => address)]
      const caps = await mapOwn(tokens, async (token) => chain.readClaimCap?.(token))
      return tokens.flatMap((token, index) => {
        const amount = caps[index]?.claimed ?? 0n
        return amount > 0n ? [{ token, amount }] : []
      })
    },
  }
}

type Parts = { network: NetworkConfig; chains: Chains; pool: Pool; logger: Logger }

/** Follows orphans, whose terms a rebuild could not find, beside the watch of their input's chain. */
export function createOrphanTask({ network, chains, pool, logger }: Parts, chainId: number): Task {
  const deps = {
    pool,
    rules: rulesOf(network, chains),
    everywhere: chains.all,
    onResolved: ({ id: swapId }: { id: string }, how: string) =>
      logger.info({ swapId, how }, 'orphan resolved'),
  }
  let nextAt = 0
  return {
    topics: [],
    async step() {
      if (performance.now() < nextAt) return
      nextAt = performance.now() + ORPHANS_MS
      await resolveOrphans(deps, chainId)
    },
  }
}
