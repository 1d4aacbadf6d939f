import type { StatusReply } from '@geoswap/sdk'
import { formatUnits } from '../amounts.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import type { Journey } from './journey.ts'
import type { SwapTerms } from './swap-terms.ts'

type Props = { swap: StatusReply; terms: SwapTerms | undefined; journey: Journey }

/**
 * Two chains and the funds between them. Each chain has two positions, and a coin that moves between them.
 */
export function Picture({ swap, terms, journey }: Props) {
  const { catalog } = useSession()
  const origin = chainOf(catalog, swap.originChain)
  const destination = chainOf(catalog, swap.destinationChain)
  const input = terms && tokenOf(catalog, swap.originChain, terms.inputToken)
  const output = terms && tokenOf(catalog, swap.destinationChain, terms.outputToken)
  const paid = swap.amounts.delivered ?? swap.amounts.quotedOutput
  return (
    <div class="picture">
      <Chain
        name={origin?.name ?? `chain ${swap.originChain}`}
        places={['Wallet', 'Escrow']}
        coin={input ? formatUnits(swap.amounts.input, input) : 'Input'}
        position={`input ${journey.input}`}
      />
      <div class={`bridge ${journey.output}`}>
        <svg viewBox="0 0 40 20" aria-hidden="true">
          <path d="M2 10h34m0 0-7-6m7 6-7 6" />
        </svg>
      </div>
      <Chain
        name={destination?.name ?? `chain ${swap.destinationChain}`}
        places={['Service', 'Recipient']}
        coin={output ? formatUnits(paid, output) : 'Output'}
        position={`output ${journey.output}`}
      />
    </div>
  )
}

type ChainProps = { name: string; places: readonly [string, string]; coin: string; position: string }

function Chain({ name, places, coin, position }: ChainProps) {
  return (
    <div class={`chain ${position}`}>
      <p class="chain-name">{name}</p>
      <div class="track" aria-hidden="true">
        <span class="coin">{coin}</span>
      </div>
      <div class="places">
        <span>{places[0]}</span>
        <span>{places[1]}</span>
      </div>
    </div>
  )
}
