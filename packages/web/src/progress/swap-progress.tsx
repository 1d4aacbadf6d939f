import { type Client, GeoswapError, type StatusReply } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { formatUnits } from '../amounts.ts'
import { TxLink } from '../parts/links.tsx'
import { Notice } from '../parts/notice.tsx'
import { Row } from '../parts/row.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { formatDuration, type Journey, journeyOf, type Step, stepsOf } from './journey.ts'
import { outcomeOf, STATUSES, type SwapTerms } from './outcome.ts'

const STATES = { done: 'done', now: 'happening now', ahead: 'still to come', bad: 'ended here' } as const

/** The past steps with their durations, and the expected ones. */
function Timeline({ steps }: { steps: readonly Step[] }) {
  return (
    <ol class="timeline" aria-label="Progress">
      {steps.map(({ stage, title, state, at, tookMs, txHash, chainId }) => (
        <li key={`${stage} ${at}`} class={state}>
          <span class="step">
            {title} <span class="unseen">({STATES[state]})</span>
          </span>
          <span class="when">
            {at && <time dateTime={at}>{new Date(at).toLocaleTimeString()}</time>}
            {tookMs !== undefined && <span class="took">+{formatDuration(tookMs)}</span>}
          </span>
          {txHash && (
            <span class="tx">
              <TxLink hash={txHash} chainId={chainId} label={`transaction of ${title}`} />
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}

type PictureProps = { swap: StatusReply; terms: SwapTerms | undefined; journey: Journey }

/**
 * Two chains and the funds between them. Each chain has two positions, and a coin that moves between them.
 */
function Picture({ swap, terms, journey }: PictureProps) {
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

type OutcomeProps = { swap: StatusReply; terms: SwapTerms | undefined }

/** The status in one sentence, which screen readers announce on each change. */
function Outcome({ swap, terms }: OutcomeProps) {
  const { catalog } = useSession()
  const { originTxHash, deliveryTxHash, refund, originChain, destinationChain } = swap
  return (
    <Notice tone={STATUSES[swap.status].tone}>
      <p class="outcome">{outcomeOf(swap, terms, catalog)}</p>
      {swap.status !== 'pending' && (originTxHash || deliveryTxHash || refund?.txHash) && (
        <dl class="rows">
          {originTxHash && (
            <Hash
              name={swap.status === 'failed' ? 'Tried by' : 'Input taken by'}
              hash={originTxHash}
              chainId={originChain}
            />
          )}
          {deliveryTxHash && swap.status === 'settled' && (
            <Hash name="Delivered by" hash={deliveryTxHash} chainId={destinationChain} />
          )}
          {refund?.txHash && <Hash name="Refunded by" hash={refund.txHash} chainId={originChain} />}
        </dl>
      )}
    </Notice>
  )
}

function Hash({ name, hash, chainId }: { name: string; hash: string; chainId: number }) {
  return (
    <Row name={name}>
      <TxLink hash={hash} chainId={chainId} label={`transaction: ${name}`} />
    </Row>
  )
}

/** Amounts that were sent to the address of a swap and came back. */
export function ReturnedRows({ swap: { deposit, originChain } }: { swap: StatusReply }) {
  const { catalog } = useSession()
  return (
    <>
      {deposit?.returned?.map(({ token, amount, txHash }) => {
        const unit = tokenOf(catalog, originChain, token)
        return (
          <Row key={txHash} name="Sent back">
            {unit ? formatUnits(amount, unit) : '…'}{' '}
            <TxLink hash={txHash} chainId={originChain} label="transaction" />
          </Row>
        )
      })}
    </>
  )
}

/** Where the funds are, as a picture and as a list, and the outcome. */
export function SwapProgress({ swap, terms }: { swap: StatusReply; terms: SwapTerms | undefined }) {
  return (
    <>
      <Picture swap={swap} terms={terms} journey={journeyOf(swap)} />
      <Outcome swap={swap} terms={terms} />
      <Timeline steps={stepsOf(swap)} />
    </>
  )
}

type Followed = { swap?: StatusReply; error?: unknown }

const PAUSE_MS = 2_000

/** Follows a swap by its event stream. A lost stream is reopened until the swap has ended. */
export function useSwapEvents(swapId: string | undefined): Followed {
  const { client } = useSession()
  const [followed, setFollowed] = useState<Followed>({})
  useEffect(() => {
    setFollowed({})
    if (swapId === undefined) return undefined
    const controller = new AbortController()
    void follow({ client, swapId, signal: controller.signal, update: setFollowed })
    return () => controller.abort()
  }, [client, swapId])
  return followed
}

type Following = {
  client: Client
  swapId: string
  signal: AbortSignal
  update(next: (last: Followed) => Followed): void
}

/** An amount that is not swapped comes back after the end, and no event tells it. */
const isComingBack = ({ status, deposit }: StatusReply) =>
  status !== 'pending' && deposit?.received !== undefined && deposit.next !== undefined

async function follow({ client, swapId, signal, update }: Following): Promise<void> {
  let lastEventId: string | undefined
  let last: StatusReply | undefined
  while (!signal.aborted) {
    try {
      for await (const { id, swap } of client.events(swapId, { signal, lastEventId })) {
        lastEventId = id
        last = swap
        update(() => ({ swap }))
      }
      while (last && isComingBack(last)) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        if (signal.aborted) return
        const swap = await client.status(swapId, { signal })
        last = swap
        update(() => ({ swap }))
      }
      return
    } catch (error) {
      if (signal.aborted) return
      update((last) => ({ ...last, error }))
      // A permanent refusal: asking again would not help.
      if (error instanceof GeoswapError && error.status >= 400 && error.status < 500 && error.status !== 429)
        return
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
