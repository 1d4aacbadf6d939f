import { encodeAbiParameters, keccak256, numberToHex } from 'viem'
import { ends, isHealthy } from './checks.ts'
import { service } from './commands.ts'
import { prepareJourney } from './journeys.ts'
import { seesAlarm, seesInLog, seesQuote } from './observations.ts'
import type { Scene } from './scene.ts'

const MISSING = 1_000n * 10n ** 18n
const ASSET = 'USDC'

/** Tokens leave the inventory without an event of the contracts: their issuer took them back. */
export async function assetDrift(scene: Scene): Promise<void> {
  const { world } = scene
  const built = await prepareJourney(scene, 'alpha', 'beta')
  await takeBack(scene)
  scene.happens(
    `the issuer of ${ASSET} takes 1000 out of the vault on beta; an operation to beta is built, not submitted`,
  )

  await seesAlarm(scene, 'GeoswapDrift')
  await seesInLog(scene, 'worker', 'drift: quotes are stopped')
  await seesQuote(scene, { what: `for ${ASSET} on beta`, to: world.beta, answer: '503 CHAIN_UNAVAILABLE' })
  await seesQuote(scene, { what: 'for another asset on beta', to: world.beta, symbol: 'WETH', answer: '200' })
  await built.submit()
  await ends(scene, { what: 'the operation that was built before', journey: built, end: 'settled' })

  const stops = await service(scene, 'stops')
  const what = 'less is held than the books say'
  scene.expects(`it says what was seen: ${what}: ${MISSING}`, stops.includes(`${what}: ${MISSING}`))
  await service(scene, 'inventory', 'status')
  const id = /^(\d+) +drift/m.exec(stops)?.[1] ?? ''
  await service(scene, 'resume', '--stop', id, '--note', 'the issuer took it back; written off')

  await seesQuote(scene, { what: `for ${ASSET} on beta`, to: world.beta, answer: '200' })
  await isHealthy(scene)
  const after = await service(scene, 'stops', '--json')
  scene.expects('what is written off does not stop quotes again', after === '[]', after)
}

async function takeBack({ world: { beta } }: Scene): Promise<void> {
  const { vault } = beta.contracts
  const held = await beta.balanceOf(vault, ASSET)
  // The storage key of the balance in OpenZeppelin's ERC20: a mapping in the first slot.
  const of = encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [vault, 0n])
  const value = numberToHex(held - MISSING, { size: 32 })
  await beta.client.setStorageAt({
    ...{ address: beta.token(ASSET) as `0x${string}`, index: keccak256(of), value },
  })
}
