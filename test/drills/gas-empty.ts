import { ends, isHealthy, reaches } from './checks.ts'
import { prepareJourney } from './journeys.ts'
import { seesAlarm, seesInLog, seesQuote } from './observations.ts'
import type { Scene } from './scene.ts'

const FILL = 10n * 10n ** 18n
const FILL_SOL = 10n * 10n ** 9n

/** Relayers, deliverers and Solana's fee payers have no gas left. */
export async function gasEmpty(scene: Scene): Promise<void> {
  const { world, solana, network } = scene
  const { alpha, beta } = world
  const { deliverers } = network.keys
  const relayers = [...network.keys.relayers, ...network.keys.authorizationRelayers]
  const feePayers = Object.values(network.keys.solana.feePayers)
  const [first] = deliverers
  if (!first) throw new Error('The network has no deliverer')
  await beta.client.setBalance({ address: first.address, value: 1n })
  scene.happens('one of the deliverers of beta is empty')
  await seesAlarm(scene, 'GeoswapGasLow')
  await seesQuote(scene, { what: 'to beta, where another can pay', to: beta, answer: '200' })
  const others = [await prepareJourney(scene, 'alpha', 'beta'), await prepareJourney(scene, 'alpha', 'beta')]
  for (const journey of others) await journey.submit()
  for (const journey of others)
    await ends(scene, { what: 'a swap that the other deliverer pays', journey, end: 'settled' })

  const [toBeta, toSolana, fromSolana, late] = [
    await prepareJourney(scene, 'alpha', 'beta'),
    await prepareJourney(scene, 'alpha', 'solana'),
    await prepareJourney(scene, 'solana', 'beta'),
    await prepareJourney(scene, 'alpha', 'beta'),
  ]
  for (const { address } of deliverers) await beta.client.setBalance({ address, value: 1n })
  for (const { address } of feePayers) await solana.dev.dev_setAccount(address, { lamports: '0' }).send()
  for (const journey of [toBeta, toSolana, fromSolana]) await journey.submit()
  scene.happens('the deliverers of beta and the fee payers of solana are empty; three swaps are on their way')
  await reaches(scene, toBeta, 'delivering')
  for (const { address } of relayers) await alpha.client.setBalance({ address, value: 1n })
  await late.submit()
  scene.happens('the relayers of alpha are empty too; a fourth swap waits for its lock')

  await seesAlarm(scene, 'GeoswapGasLow')
  await seesInLog(scene, 'worker', 'every node refused')
  await seesQuote(scene, { what: 'to beta', to: beta, answer: '503 CHAIN_UNAVAILABLE' })
  await seesQuote(scene, { what: 'to solana', to: solana, answer: '503 CHAIN_UNAVAILABLE' })
  await seesQuote(scene, { what: 'from alpha', to: alpha, symbol: 'WETH', answer: '503 CHAIN_UNAVAILABLE' })
  await ends(scene, {
    what: 'the swap from solana, whose transaction nobody pays for',
    journey: fromSolana,
    end: 'failed',
  })

  for (const { address } of deliverers) await world.fund(beta, address, 'ETH', FILL)
  for (const { address } of relayers) await world.fund(alpha, address, 'ETH', FILL)
  for (const { address } of feePayers) await solana.fund(address, 'SOL', FILL_SOL)
  scene.does('10 ETH are sent to each relayer of alpha and each deliverer of beta, 10 SOL to each fee payer')

  await ends(scene, { what: 'the swap to beta', journey: toBeta, end: 'settled' })
  await ends(scene, { what: 'the swap to solana', journey: toSolana, end: 'settled' })
  await ends(scene, { what: 'the swap that waited for its lock', journey: late, end: 'settled' })
  await seesQuote(scene, { what: 'to solana', to: solana, answer: '200' })
  await isHealthy(scene)
}
