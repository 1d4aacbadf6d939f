import { geoEscrowAbi } from '@geoswap/protocol'
import { encodeFunctionData, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { ends, isHealthy, reaches } from './checks.ts'
import { service } from './commands.ts'
import { startJourney } from './journeys.ts'
import { seesAlarm, seesQuote } from './observations.ts'
import type { Scene } from './scene.ts'
import { asTreasury } from './treasury.ts'

const KEY = 'GEOSWAP_ATTESTER_KEY'
const EIGHT_DAYS = 8 * 24 * 3_600

/** The attester's machine is gone with its only key: the escrows accept another after eight days. */
export async function attesterKeyLost(scene: Scene): Promise<void> {
  const { world, processes } = scene
  await processes.stop('attester', 'SIGKILL')
  const [fromAlpha, fromSolana] = [
    await startJourney(scene, 'alpha', 'beta'),
    await startJourney(scene, 'solana', 'beta'),
  ]
  for (const journey of [fromAlpha, fromSolana]) await reaches(scene, journey, 'settled')
  const privateKey = generatePrivateKey()
  processes.secrets.attester[KEY] = privateKey
  scene.happens(`the attester's machine is gone, and its key with it. Two swaps were paid for, and their inputs wait to
be claimed, one on alpha and one on solana`)

  await seesAlarm(scene, 'GeoswapProcessDown')
  scene.sees(`the attester refuses to start with another key: ${await processes.refusalOf('attester')}`)
  await service(scene, 'pause', '--note', 'the attester key is lost')
  await seesQuote(scene, { what: 'of anything', to: world.beta, answer: '503 CHAIN_UNAVAILABLE' })

  const added = privateKeyToAddress(privateKey)
  await inEscrows(
    scene,
    encodeFunctionData({ abi: geoEscrowAbi, functionName: 'proposeAttester', args: [added] }),
  )
  scene.does(`GeoEscrow.proposeAttester(${added}) on both chains, from the treasury`)
  for (const chain of world.chains) await chain.advance(EIGHT_DAYS)
  scene.happens(`eight days pass on the chains. Anyone could have sent the input on alpha back since its refund
deadline; nobody did`)
  await inEscrows(scene, encodeFunctionData({ abi: geoEscrowAbi, functionName: 'acceptAttester' }))
  scene.does(
    `GeoEscrow.acceptAttester() on both chains; attester: ${added}; API, worker and attester start anew`,
  )
  scene.configure((config) => ({ ...config, attester: added }))
  await processes.restart('api', 'worker', 'attester')

  await ends(scene, { what: 'the swap from alpha, by its claim', journey: fromAlpha, end: 'settled' })
  await ends(scene, { what: 'the swap from solana, by its claim', journey: fromSolana, end: 'settled' })
  await service(scene, 'resume', '--note', 'the new attester signs')
  await seesQuote(scene, { what: 'to beta', to: world.beta, answer: '200' })
  await isHealthy(scene)
}

async function inEscrows(scene: Scene, data: Hex): Promise<void> {
  for (const chain of scene.world.chains) await asTreasury(scene, chain, { to: chain.contracts.escrow, data })
}
