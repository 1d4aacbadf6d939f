import { randomUUID } from 'node:crypto'
import { declareLanes, type Lease, takeLanes } from './lanes.ts'
import type { TestDatabase } from './test-database.ts'

/** Holds a lane, as the worker that runs it would. */
export async function holdTestLane({ pool }: TestDatabase, name: string, ttlMs = 600_000): Promise<Lease> {
  await declareLanes(pool, [name])
  const [lease] = await takeLanes(pool, { names: [name], holder: randomUUID(), ttlMs, limit: 1 })
  if (!lease) throw new Error(`${name} is held by somebody else`)
  return lease
}
