import { randomUUID } from 'node:crypto'
import { declareLanes, type Lease, takeLanes } from '../../src/store/lanes.ts'
import type { TestDatabase } from './database.ts'

/** Takes a lane, as a worker would. */
export async function holdTestLane({ pool }: TestDatabase, name: string, ttlMs = 600_000): Promise<Lease> {
  await declareLanes(pool, [name])
  const [lease] = await takeLanes(pool, { names: [name], holder: randomUUID(), ttlMs, limit: 1 })
  if (!lease) throw new Error(`${name} has another holder`)
  return lease
}
