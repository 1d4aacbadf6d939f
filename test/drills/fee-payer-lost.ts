import { createKeys, type SolanaKeys } from '@geoswap/devnet'
import { ends, isHealthy, reaches } from './checks.ts'
import { service } from './commands.ts'
import { prepareJourney, startJourney } from './journeys.ts'
import { seesAlarm } from './observations.ts'
import type { Scene } from './scene.ts'

const FILL_SOL = 10n * 10n ** 9n
const KEYS = 'GEOSWAP_SOLANA_KEYS'

type FeePayers = SolanaKeys['feePayers']

/**
 * The worker's machine is gone with the keys of Solana's fee payers. The vault's own key was backed up:
 * without them nothing on this chain could be moved.
 */
export async function feePayerLost(scene: Scene): Promise<void> {
  const { solana, processes } = scene
  await processes.stop('attester')
  const claimed = await startJourney(scene, 'solana', 'beta')
  await reaches(scene, claimed, 'settled')
  const unpaid = await prepareJourney(scene, 'alpha', 'solana')
  const paid = await prepareJourney(scene, 'alpha', 'solana')
  const late = await prepareJourney(scene, 'solana', 'beta')
  await paid.submit()
  await reaches(scene, paid, 'settled')
  // Not final, so that the books do not have it yet when the key is gone.
  await solana.dev.dev_pauseSlots().send()
  await solana.dev.dev_dropTransactions({ probability: 1 }).send()
  await late.submit()
  await unpaid.submit()
  await reaches(scene, unpaid, 'delivering')
  await processes.stop('worker', 'SIGKILL')
  await solana.dev.dev_dropTransactions(0).send()
  await solana.dev.dev_resumeSlots().send()
  useKeys(scene, [])
  scene.happens(`the worker's machine is gone, and the keys of both fee payers of solana with it. One swap to solana was
just paid, for one a payment was signed that never left; from solana, one input is to be claimed, one to be taken in`)

  await seesAlarm(scene, 'GeoswapProcessDown')
  scene.sees(`the worker refuses to start: ${await processes.refusalOf('worker')}`)

  const added = createKeys().solana.feePayers
  await replace(scene, added)
  scene.does(`feePayers of solana: both are replaced by new ones, which get 10 SOL each; the API restarts, worker and
attester start`)
  await processes.restart('api', 'worker', 'attester')

  await ends(scene, { what: 'the swap from solana, by a claim', journey: claimed, end: 'settled' })
  await ends(scene, { what: 'the swap that was just paid', journey: paid, end: 'settled' })
  await ends(scene, { what: 'the swap that only a lost key could take in', journey: late, end: 'failed' })
  const [from, to] = [
    await startJourney(scene, 'solana', 'beta'),
    await startJourney(scene, 'alpha', 'solana'),
  ]
  await ends(scene, { what: 'a new swap from solana', journey: from, end: 'settled' })
  await ends(scene, { what: 'a new swap to solana', journey: to, end: 'settled' })
  await ends(scene, { what: 'the swap whose payment never left', journey: unpaid, end: 'settled' })
  await isHealthy(scene)
  const stops = await service(scene, 'stops', '--json')
  scene.expects('the books know what the lost keys paid: nothing is stopped', stops === '[]', stops)
}

function useKeys({ network, processes }: Scene, feePayers: readonly { seed: string }[]): void {
  const { inventory } = network.keys.solana
  processes.secrets.worker[KEYS] = [inventory, ...feePayers].map(({ seed }) => seed).join(',')
}

async function replace(scene: Scene, { input, delivery }: FeePayers): Promise<void> {
  for (const { address } of [input, delivery]) await scene.solana.fund(address, 'SOL', FILL_SOL)
  useKeys(scene, [input, delivery])
  const feePayers = { input: input.address, delivery: delivery.address }
  scene.configure((config) => ({
    ...config,
    chains: config.chains.map((chain) => (chain.family === 'solana' ? { ...chain, feePayers } : chain)),
  }))
}
