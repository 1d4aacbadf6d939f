import { service } from './commands.ts'
import { isSound, readVaults } from './point-in-time.ts'
import type { Scene } from './scene.ts'
import { startTraffic } from './traffic.ts'

// Of each batch of swaps: before the pooler dies, and after it is back.
const ENOUGH = 6
const PATIENT_MS = 300_000

/** The pooler before the database dies while swaps run. */
export async function poolerDown(scene: Scene): Promise<void> {
  const { pooler, processes, until } = scene
  if (!pooler) throw new Error('Without a pooler')
  const before = await readVaults(scene)
  const traffic = startTraffic(scene)
  await until(`${ENOUGH} swaps are under way`, async () => traffic.made.length >= ENOUGH, PATIENT_MS)
  const connections = await countConnections(scene)
  scene.sees(`the server has ${connections} connections of API, worker and attester`)

  await pooler.kill()
  scene.happens('the pooler is gone; swaps are on their way')
  await until('the API answers that it is not ready', async () => (await readReady(scene)) === 503)
  await pooler.start()
  scene.does('the pooler is started again')
  await until('/ready is 200', async () => (await readReady(scene)) === 200)
  const isMore = async () => traffic.made.length >= 2 * ENOUGH
  await until(`${ENOUGH} more swaps are under way`, isMore, PATIENT_MS)
  traffic.end()
  await traffic.over

  const failed = processes
    .logOf('api')
    .split('\n')
    .find((line) => line.includes('"request failed"'))
  scene.expects('no request failed for another reason', failed === undefined, failed)
  await isSound(scene, traffic.made, before)
  const stops = await service(scene, 'stops', '--json')
  scene.expects('no drift: nothing is stopped', stops === '[]', stops)
  await refusesPoolerAlone(scene)
}

/** A process that was not told of the pooler does not start behind it. */
async function refusesPoolerAlone({ processes, ...scene }: Scene): Promise<void> {
  const { secrets } = processes
  const { DATABASE_DIRECT_URL, ...others } = secrets.worker
  await processes.stop('worker')
  secrets.worker = others
  const said = await processes.refusalOf('worker')
  secrets.worker = { ...others, ...(DATABASE_DIRECT_URL && { DATABASE_DIRECT_URL }) }
  scene.expects(
    'a worker without DATABASE_DIRECT_URL refuses to start',
    /DATABASE_DIRECT_URL/.test(said),
    said,
  )
}

const readReady = ({ processes }: Scene) =>
  fetch(`${processes.urlOf('api')}/ready`).then(
    async (reply) => {
      await reply.body?.cancel()
      return reply.status
    },
    () => 0,
  )

async function countConnections({ query }: Scene): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where usename in ('local_api', 'local_worker') or usename like 'local_attester%'`,
  )
  return row?.count ?? 0
}
