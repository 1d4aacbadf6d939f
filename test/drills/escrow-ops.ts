import { geoOpDomain, type RefundableOp, readRefundableOp } from '@geoswap/protocol'
import { service } from './commands.ts'
import type { Journey } from './journeys.ts'
import { seesAlarm } from './observations.ts'
import type { Scene } from './scene.ts'

/** The op of a journey from alpha as its escrow receives it. */
export async function opOf({ query, world }: Scene, { opHash }: Journey): Promise<RefundableOp> {
  const [row] = await query<{ terms: unknown }>('select terms from ops where hash = $1', [opHash])
  const { chainId, contracts } = world.alpha
  const domain = { ...geoOpDomain({ chainId, escrow: contracts.escrow }) }
  return readRefundableOp({ domain, message: row?.terms })
}

/** A paid swap whose input went back to its wallet: the operator's loss is seen and written off. */
export async function writeOff(scene: Scene, { opHash }: Journey, note: string): Promise<void> {
  await seesAlarm(scene, 'GeoswapInputLost')
  const [row] = await scene.query<{ id: string }>(
    'select s.id from swaps s join ops o on o.id = s.op_id where o.hash = $1',
    [opHash],
  )
  await service(scene, 'swaps', 'write-off', row?.id ?? '', '--note', note)
}
