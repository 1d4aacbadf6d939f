import { geoVaultAbi } from '@geoswap/protocol'
import { type Address, encodeFunctionData } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { ends, isHealthy, reaches } from './checks.ts'
import { type Journey, prepareJourney, startJourney } from './journeys.ts'
import { seesAlarm } from './observations.ts'
import type { Scene } from './scene.ts'
import { asTreasury } from './treasury.ts'

const GAS = 10n * 10n ** 18n
const SEND = 'eth_sendRawTransaction'
const KEYS = 'GEOSWAP_DELIVERER_KEYS'
// An operation's position in its ring decides which key delivers it: neighbours have different keys.
const MOST_TRIES = 12

/**
 * The worker's machine is gone with one of its deliverer keys. The key had signed a delivery that was never
 * sent, and a swap is accepted.
 */
export async function delivererKeyLost(scene: Scene): Promise<void> {
  const { nodes, processes } = scene
  nodes.beta.onCall(({ method }) => (method === SEND ? 'dropRequest' : 'forward'))
  const unpaid = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, unpaid, 'delivering')
  const lost = await delivererOf(scene, unpaid)
  const waiting = await prepareJourney(scene, 'alpha', 'beta')
  await processes.stop('worker', 'SIGKILL')
  nodes.beta.onCall(undefined)
  await waiting.submit()
  dropKey(scene, lost)
  scene.happens(`the worker's machine is gone, and the key of deliverer ${lost} with it. It had signed
a delivery that was never sent; another swap is accepted`)

  await seesAlarm(scene, 'GeoswapProcessDown')
  scene.sees(`the worker refuses to start: ${await processes.refusalOf('worker')}`)

  const added = await addKey(scene, lost)
  scene.does(`deliverers: ${lost} is replaced by the new ${added}, which gets gas coin and which both vaults
know by setDeliverer; the API restarts, the worker starts`)
  await processes.restart('api', 'worker')

  await ends(scene, { what: 'the swap that was accepted', journey: waiting, end: 'settled' })
  const next = await journeyOfSame(scene, unpaid)
  await next.submit()
  await ends(scene, { what: 'a swap that fell to the lost key', journey: next, end: 'settled' })
  const deliverer = await delivererOf(scene, next)
  scene.expects('the new key delivered it', deliverer === added, `${deliverer} did`)
  await ends(scene, {
    ...{ what: 'the swap whose delivery never left', journey: unpaid, end: 'refunded', timeoutMs: 300_000 },
  })
  await allow(scene, lost, false)
  scene.does(`GeoVault.setDeliverer(${lost}, false) on both chains: whoever finds the key can pay nobody`)
  await isHealthy(scene)
}

async function delivererOf({ query }: Scene, { opHash }: Journey): Promise<Address> {
  const [row] = await query<{ sender: Address }>(
    `select a.sender from tx_attempts a join attempt_swaps l on l.attempt_id = a.id
       join swaps s on s.id = l.swap_id join ops o on o.id = s.op_id
      where o.hash = $1 and l.role = 'deliver'`,
    [opHash],
  )
  if (!row) throw new Error('No delivery was signed')
  return row.sender
}

/** Another operation for the same key. */
async function journeyOfSame(scene: Scene, journey: Journey): Promise<Journey> {
  const keys = BigInt(scene.network.keys.deliverers.length)
  const shareOf = async ({ opHash }: Journey) => {
    const [row] = await scene.query<{ position: string }>('select position from ops where hash = $1', [
      opHash,
    ])
    return row && BigInt(row.position) % keys
  }
  const wanted = await shareOf(journey)
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const another = await prepareJourney(scene, 'alpha', 'beta')
    if ((await shareOf(another)) === wanted) return another
  }
  throw new Error('No operation fell to the deliverer that was wanted')
}

function dropKey({ processes, network }: Scene, lost: Address): void {
  const left = network.keys.deliverers.filter(({ address }) => address !== lost)
  processes.secrets.worker[KEYS] = left.map(({ privateKey }) => privateKey).join(',')
}

async function addKey(scene: Scene, lost: Address): Promise<Address> {
  const { world, processes } = scene
  const privateKey = generatePrivateKey()
  const added = privateKeyToAddress(privateKey)
  for (const chain of world.chains) await world.fund(chain, added, 'ETH', GAS)
  await allow(scene, added, true)
  processes.secrets.worker[KEYS] += `,${privateKey}`
  scene.configure(({ deliverers, ...config }) => ({
    ...config,
    deliverers: deliverers.map((address) => (address === lost ? added : address)),
  }))
  return added
}

async function allow(scene: Scene, deliverer: Address, isAllowed: boolean): Promise<void> {
  const args = [deliverer, isAllowed] as const
  const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setDeliverer', args })
  for (const chain of scene.world.chains) await asTreasury(scene, chain, { to: chain.contracts.vault, data })
}
