import { ends, isHealthy, reaches } from './checks.ts'
import { service } from './commands.ts'
import { startJourney } from './journeys.ts'
import { seesAlarm, seesQuote } from './observations.ts'
import type { Scene } from './scene.ts'

/** The attester dies, unnoticed until half of the time to claim is over. */
export async function attesterDown(scene: Scene): Promise<void> {
  const { world, processes } = scene
  await processes.stop('attester', 'SIGKILL')
  const delivered = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, delivered, 'settled')
  scene.happens(
    'the attester is killed; a swap is delivered, and its input waits in the escrow to be claimed',
  )

  await seesAlarm(scene, 'GeoswapProcessDown')
  scene.happens('nobody comes')
  await seesAlarm(scene, 'GeoswapClaimsLate', 300_000)
  const [row] = await scene.query<{ left: number }>(
    `select o.refund_deadline - extract(epoch from clock_timestamp())::int as left from ops o where o.hash = $1`,
    [delivered.opHash],
  )
  scene.sees(`in ${row?.left} s anyone can send the input back that was paid for`)

  await processes.start('attester')
  scene.does('the attester is started')
  await service(scene, 'pause', '--note', 'claims are late')
  await seesQuote(scene, { what: 'of anything', to: world.beta, answer: '503 CHAIN_UNAVAILABLE' })
  await ends(scene, {
    what: 'the swap, by its claim and before its refund deadline',
    journey: delivered,
    end: 'settled',
  })
  await service(scene, 'swaps', 'list', '--status', 'settled')
  await service(scene, 'resume', '--note', 'claims come in again')
  await seesQuote(scene, { what: 'to beta', to: world.beta, answer: '200' })
  await isHealthy(scene)
}
