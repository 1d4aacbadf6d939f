import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { ends, isHealthy, reaches } from './checks.ts'
import { type Journey, prepareAgain, startJourney } from './journeys.ts'
import { seesAlarm } from './observations.ts'
import type { Scene } from './scene.ts'

const GAS = 10n * 10n ** 18n
const SEND = 'eth_sendRawTransaction'
const KEYS = 'GEOSWAP_RELAYER_KEYS'
// Operations go to the key with the fewest: as many as there are keys, so that each has one.
const MOST_TRIES = 12

/**
 * The worker's machine is gone with one of its relayer keys. The key had signed a claim that was never sent,
 * and there are accepted swaps that only it may lock.
 */
export async function relayerKeyLost(scene: Scene): Promise<void> {
  const { nodes, processes } = scene
  const claimed = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, claimed, 'settled')
  nodes.alpha.onCall(({ method }) => (method === SEND ? 'dropRequest' : 'forward'))
  await reaches(scene, claimed, 'claiming')
  const lost = await claimerOf(scene, claimed)
  const [ofLost, ofOther] = [
    await journeyOf(scene, (locker) => locker === lost),
    await journeyOf(scene, (locker) => locker !== lost),
  ]
  await processes.stop('worker', 'SIGKILL')
  nodes.alpha.onCall(undefined)
  await ofLost.submit()
  await ofOther.submit()
  dropKey(scene, lost)
  scene.happens(`the worker's machine is gone, and the key of relayer ${lost} with it. It had signed
a claim that was never sent; one swap waits for its lock, and one for that of another relayer`)

  await seesAlarm(scene, 'GeoswapProcessDown')
  scene.sees(`the worker refuses to start: ${await processes.refusalOf('worker')}`)

  const added = await addKey(scene, lost)
  scene.does(
    `relayers: ${lost} is replaced by the new ${added}, which gets gas coin; the API restarts, the worker starts`,
  )
  await processes.restart('api', 'worker')

  await ends(scene, { what: 'the swap of another relayer', journey: ofOther, end: 'settled' })
  await ends(scene, { what: 'the swap whose claim was never sent', journey: claimed, end: 'settled' })
  await ends(scene, {
    what: 'the swap that only the lost key could lock',
    journey: ofLost,
    end: 'failed',
    timeoutMs: 240_000,
  })
  const isUsed = await journeyOf(scene, (locker) => locker === added)
  await isUsed.submit()
  await ends(scene, { what: 'a swap that the new relayer locks', journey: isUsed, end: 'settled' })
  await isHealthy(scene)
}

async function claimerOf({ query }: Scene, { opHash }: Journey): Promise<string> {
  const [row] = await query<{ sender: string }>(
    `select a.sender from tx_attempts a join attempt_swaps l on l.attempt_id = a.id
       join swaps s on s.id = l.swap_id join ops o on o.id = s.op_id
      where o.hash = $1 and l.role = 'claim'`,
    [opHash],
  )
  if (!row) throw new Error('No claim was signed')
  return row.sender
}

async function journeyOf(scene: Scene, isWanted: (locker: string) => boolean): Promise<Journey> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const journey = await prepareAgain(scene)
    if (isWanted(journey.locker)) return journey
  }
  throw new Error('No operation was given to the relayer that was wanted')
}

function dropKey({ processes, network }: Scene, lost: string): void {
  const { relayers, authorizationRelayers } = network.keys
  const left = [...relayers, ...authorizationRelayers].filter(({ address }) => address !== lost)
  processes.secrets.worker[KEYS] = left.map(({ privateKey }) => privateKey).join(',')
}

async function addKey(scene: Scene, lost: string): Promise<string> {
  const { world, processes } = scene
  const privateKey = generatePrivateKey()
  const added = privateKeyToAddress(privateKey)
  for (const chain of world.chains) await world.fund(chain, added, 'ETH', GAS)
  processes.secrets.worker[KEYS] += `,${privateKey}`
  scene.configure(({ relayers, ...config }) => ({
    ...config,
    relayers: relayers.map((address) => (address === lost ? added : address)),
  }))
  return added
}
