import { Gauge, type Registry } from 'prom-client'
import { formatUnits } from 'viem'
import type { ViewOfChain, Views } from '../engine/views.ts'
import type { ServedChain } from '../swap/served-chain.ts'

type Sources = { chains: readonly ServedChain[]; views: Pick<Views, 'of'> }

type Spec = { name: string; help: string; labelNames: ['chain'] }

const FRESH_MS = 60_000

/** The chains as their followers see them. A value that is no longer renewed is absent; the age of the view stays. */
export function addViewMetrics(registry: Registry, sources: Sources): void {
  addRelayerGauge(registry, sources)
  const gauge = (spec: Spec, read: (view: ViewOfChain, chain: ServedChain) => number | undefined) =>
    new Gauge({
      ...spec,
      registers: [registry],
      collect() {
        this.reset()
        for (const chain of sources.chains) {
          const value = read(sources.views.of(chain.chainId), chain)
          if (value !== undefined) this.set({ chain: chain.name }, value)
        }
      },
    })
  const age: Spec = {
    name: 'geoswap_view_age_seconds',
    help: 'Age of the view of a chain that an API process uses. Above 30 the feeds of the chain are not used.',
    labelNames: ['chain'],
  }
  gauge(age, (view) => toSeconds(view.part('state')?.ageMs))
  const finality: Spec = {
    name: 'geoswap_chain_finality_seconds',
    help: 'Lag of the final block behind the head: 95th percentile of ten minutes, at first the median.',
    labelNames: ['chain'],
  }
  gauge(finality, (view) => measuredOf(view).finalitySeconds)
  const block: Spec = {
    name: 'geoswap_chain_block_seconds',
    help: 'Time between blocks: 95th percentile of ten minutes.',
    labelNames: ['chain'],
  }
  gauge(block, (view) => toSeconds(measuredOf(view).blockMs))
  const change: Spec = {
    name: 'geoswap_attester_change_pending',
    help: '1 while other attesters follow in the escrow of a chain, proposed or accepted, or foreign ones decide.',
    labelNames: ['chain'],
  }
  gauge(change, (view) => {
    const state = view.part('state')
    if (!state || state.ageMs > FRESH_MS) return undefined
    return state.value.attesterChange ? 1 : 0
  })
  const used: Spec = {
    name: 'geoswap_chain_finality_used_ratio',
    help: 'Measured finality time by the configured one: above 1 it is slow, above 3 the chain is not served.',
    labelNames: ['chain'],
  }
  gauge(used, (view, { hardSeconds }) => {
    const measured = measuredOf(view).finalitySeconds
    return measured === undefined ? undefined : measured / hardSeconds
  })
}

/** Nothing is measured of a chain whose head does not move. */
function measuredOf(view: ViewOfChain): ReturnType<ViewOfChain['measured']> {
  return view.isLive() ? view.measured() : {}
}

function addRelayerGauge(registry: Registry, { chains, views }: Sources): void {
  new Gauge({
    name: 'geoswap_relayer_balance',
    help: 'Gas coin of every sending key (relayers, deliverers, Solana fee payers), in whole coins.',
    labelNames: ['chain', 'relayer'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chainId, name, coin, senders } of chains) {
        const state = views.of(chainId).part('state')
        if (!state || state.ageMs > FRESH_MS) continue
        for (const relayer of [...senders.relay, ...senders.deliver]) {
          const balance = state.value.balances[relayer]
          if (balance === undefined) continue
          this.set({ chain: name, relayer }, Number(formatUnits(balance, coin.decimals)))
        }
      }
    },
  })
}

const toSeconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000)
