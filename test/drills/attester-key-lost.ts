import { geoEscrowAbi } from '@geoswap/protocol'
import { encodeFunctionData, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { ends, isHealthy, reaches } from './checks.ts'
import { service } from './commands.ts'
import { opOf, writeOff } from './escrow-ops.ts'
import { type Journey, startJourney } from './journeys.ts'
import { seesAlarm, seesQuote } from './observations.ts'
import type { Scene } from './scene.ts'
import { asTreasury } from './treasury.ts'

const KEY = 'GEOSWAP_ATTESTER_KEY'
const DAY = 24 * 3_600

/** The only attester's machine is gone with its key: the escrows have another after eight days. */
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
  const next = { members: [added], threshold: 1 }
  await inEscrows(
    scene,
    encodeFunctionData({ abi: geoEscrowAbi, functionName: 'proposeAttesters', args: [[added], 1n] }),
  )
  scene.does(`GeoEscrow.proposeAttesters([${added}], 1) on both chains, from the treasury`)
  for (const chain of world.chains) await chain.advance(DAY)
  scene.happens('a day passes on the chains')
  await inEscrows(scene, encodeFunctionData({ abi: geoEscrowAbi, functionName: 'acceptAttesters' }))
  scene.does('GeoEscrow.acceptAttesters() on both chains')
  for (const chain of world.chains) await chain.advance(7 * DAY)
  scene.happens('seven more days pass on the chains')
  scene.does(`attesters: 1 of ${added}; all processes start anew`)
  scene.configure((config) => ({ ...config, attesters: next }))
  await processes.restart('api', 'worker', 'attester')

  await ends(scene, { what: 'the swap from solana, by its claim', journey: fromSolana, end: 'settled' })
  await sendBack(scene, fromAlpha)
  scene.happens(`no other attester decides an op that was locked before: a stranger sends the input on alpha back to its
wallet, past its refund deadline. With 2 of 3 attesters nothing would be lost`)
  await writeOff(scene, fromAlpha, 'the attester key was lost')
  await service(scene, 'resume', '--note', 'the new attester signs')
  await seesQuote(scene, { what: 'to beta', to: world.beta, answer: '200' })
  await isHealthy(scene, fromAlpha)
}

/** Anyone may, after the refund deadline. */
async function sendBack(scene: Scene, journey: Journey): Promise<void> {
  const { alpha } = scene.world
  const { locker, argument, origin } = await opOf(scene, journey)
  const args = [locker, argument] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args })
  const account = privateKeyToAccount(generatePrivateKey())
  await scene.world.fund(alpha, account.address, 'ETH', 10n ** 18n)
  const hash = await alpha.client.sendTransaction({ account, chain: null, to: origin.escrow, data })
  await alpha.client.waitForTransactionReceipt({ hash, pollingInterval: 100 })
}

async function inEscrows(scene: Scene, data: Hex): Promise<void> {
  for (const chain of scene.world.chains) await asTreasury(scene, chain, { to: chain.contracts.escrow, data })
}
