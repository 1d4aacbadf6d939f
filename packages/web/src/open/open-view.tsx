import type { QuoteRequest, SwapRecord } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { formatUnits } from '../amounts.ts'
import { explain } from '../explain.ts'
import { standingOf } from '../explore/next.ts'
import { timeOf, useNow } from '../parts/countdown.tsx'
import { NavLink } from '../parts/links.tsx'
import { NoWallet, Problem } from '../parts/notice.tsx'
import { hrefOf } from '../route.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { findUnused, readSignatures } from '../swap/signatures.ts'
import { addressesOf } from '../wallets/use-wallets.ts'

type OpenSwaps = { swaps?: readonly SwapRecord[]; error?: unknown }

const REFRESH_MS = 4_000
const MOST = 50

/** The swaps of these wallets that have not ended, newest first. */
function useOpenSwaps(wallets: readonly string[]): OpenSwaps {
  const { client } = useSession()
  const [open, setOpen] = useState<OpenSwaps>({})
  const key = wallets.join(' ')
  useEffect(() => {
    if (key === '') return undefined
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async () => {
      const pages = key
        .split(' ')
        .map((wallet) => client.history({ wallet, status: 'pending', limit: MOST }, { signal }))
      const next = await Promise.all(pages).then(
        (replies) => ({ swaps: replies.flatMap(({ swaps }) => swaps).toSorted(byTime) }),
        (error: unknown) => ({ error }),
      )
      if (signal.aborted) return
      // After an error the last known swaps stay.
      setOpen((last) => ({ ...last, error: undefined, ...next }))
      timer = setTimeout(read, REFRESH_MS)
    }
    void read()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [client, key])
  return open
}

function byTime(a: SwapRecord, b: SwapRecord): number {
  return b.createdAt.localeCompare(a.createdAt)
}

/** The swaps of the wallets in use that have not ended: where the funds are, and what happens next. */
export function OpenView() {
  const { wallets } = useSession()
  const addresses = addressesOf(wallets)
  const { swaps, error } = useOpenSwaps(addresses)
  return (
    <section class="card" aria-labelledby="open-title">
      <h1 id="open-title">Open swaps</h1>
      {addresses.length === 0 && <NoWallet words="Connect a wallet to see its swaps that are under way." />}
      {error ? <Problem explained={explain(error)} /> : null}
      {addresses.length > 0 && (
        <p class="hint" role="status">
          {swaps === undefined ? 'Reading the open swaps…' : countOf(swaps.length)}
        </p>
      )}
      {swaps && swaps.length > 0 && (
        <ul class="open-swaps">
          {swaps.map((swap) => (
            <OpenSwap key={swap.swapId} swap={swap} />
          ))}
        </ul>
      )}
      {swaps && <UnusedSignatures wallets={addresses} swaps={swaps} />}
    </section>
  )
}

function countOf(count: number): string {
  if (count === 0) return 'No swap of your wallets is under way.'
  return count === 1 ? 'One swap is under way.' : `${count} swaps are under way.`
}

function OpenSwap({ swap }: { swap: SwapRecord }) {
  const { catalog } = useSession()
  const { originChain, destinationChain, inputToken, outputToken, amounts, createdAt, swapId } = swap
  const { where, next } = standingOf(swap, { deadlines: {} })
  const from = sideOf(catalog, originChain, inputToken, amounts.input)
  const to = sideOf(catalog, destinationChain, outputToken, amounts.quotedOutput)
  return (
    <li>
      <NavLink href={hrefOf('explore', { swap: swapId })}>
        {from} to {to}
      </NavLink>
      <p class="prose">
        {where} {next}
      </p>
      <time class="fine" dateTime={createdAt}>
        {new Date(createdAt).toLocaleString()}
      </time>
    </li>
  )
}

const ASKED = 'If it was sent too late, all of it comes back.'
const SIGNED =
  'Afterwards it has no effect, and you can swap again. To make it useless now, move the tokens out of this wallet.'

type Unused = { wallets: readonly string[]; swaps: readonly SwapRecord[] }

/** Signatures without a swap: one that was never submitted, or whose swap failed, can still be locked. */
function UnusedSignatures({ wallets, swaps }: Unused) {
  const { catalog } = useSession()
  const unused = findUnused(readSignatures(), { wallets, swaps, nowMs: useNow() })
  if (unused.length === 0) return null
  return (
    <>
      <h2>Signed, without a swap</h2>
      <ul class="open-swaps">
        {unused.map(({ request, untilMs, isAsked }) => (
          <li key={`${untilMs} ${request.inputToken}`}>
            {signedOf(catalog, request)}
            <p class="prose">
              {isAsked ? 'The wallet was asked to send this. ' : 'This signature can be used. '}Until{' '}
              <time dateTime={new Date(untilMs).toISOString()}>{timeOf(untilMs / 1_000)}</time> the same swap
              is not {isAsked ? 'asked for' : 'signed'} again. {isAsked ? ASKED : SIGNED}
            </p>
          </li>
        ))}
      </ul>
    </>
  )
}

function signedOf(catalog: Catalog, request: QuoteRequest): string {
  const { originChain, destinationChain, inputToken, outputToken, amount, tradeType } = request
  const names = [
    { chainId: originChain, address: inputToken, isExact: tradeType !== 'exactOutput' },
    { chainId: destinationChain, address: outputToken, isExact: tradeType === 'exactOutput' },
  ].map(({ chainId, address, isExact }) => {
    if (isExact && amount !== 'max') return sideOf(catalog, chainId, address, amount)
    const chain = chainOf(catalog, chainId)?.name ?? `chain ${chainId}`
    return `${tokenOf(catalog, chainId, address)?.symbol ?? 'a token'} on ${chain}`
  })
  return names.join(' to ')
}

function sideOf(catalog: Catalog, chainId: number, address: string, amount: string): string {
  const token = tokenOf(catalog, chainId, address)
  const chain = chainOf(catalog, chainId)?.name ?? `chain ${chainId}`
  return token ? `${formatUnits(amount, token)} on ${chain}` : `a token on ${chain}`
}
