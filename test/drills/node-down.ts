import type { ServiceConfig } from '@geoswap/devnet'
import { ends, isHealthy } from './checks.ts'
import { startJourney } from './journeys.ts'
import { seesAlarm, seesInLog, seesQuote } from './observations.ts'
import type { Scene } from './scene.ts'

/** The only node of a chain stops while a swap to that chain is pending. */
export async function nodeDown(scene: Scene): Promise<void> {
  const { world, nodes, processes } = scene
  const waiting = await startJourney(scene, 'alpha', 'beta')
  nodes.beta.onCall(() => 'dropRequest')
  scene.happens('the node of beta is dead; a swap is on its way there')

  await seesAlarm(scene, 'GeoswapChainDown')
  await seesInLog(scene, 'worker', 'lane step failed')
  await seesQuote(scene, { what: 'to beta', to: world.beta, answer: '503 CHAIN_UNAVAILABLE' })
  await seesQuote(scene, { what: 'to another chain', to: world.alpha, symbol: 'WETH', answer: '200' })

  const another = nodes.beta.behind()
  scene.does(
    'rpcUrls and attesterRpcUrls of beta: the dead node is replaced by another; API, worker, attester restart',
  )
  scene.configure((config) => withNodes(config, another))
  await processes.restart('api', 'worker', 'attester')

  await seesQuote(scene, { what: 'to beta', to: world.beta, answer: '200' })
  await ends(scene, {
    what: 'the swap that was on its way',
    journey: waiting,
    end: 'settled',
    timeoutMs: 120_000,
  })
  await isHealthy(scene)
}

function withNodes(config: ServiceConfig, url: string) {
  const replace = { rpcUrls: [url], attesterRpcUrls: [url] }
  return {
    ...config,
    chains: config.chains.map((chain) => (chain.name === 'beta' ? { ...chain, ...replace } : chain)),
  }
}
