import type { SwapRecord } from '@geoswap/sdk'
import { formatUnits, shorten } from '../amounts.ts'
import { NavLink } from '../parts/nav-link.tsx'
import { hrefOf } from '../route.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { returnOf } from './paid.ts'

export function HistoryTable({ swaps }: { swaps: readonly SwapRecord[] }) {
  const { catalog } = useSession()
  return (
    <table class="history">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Swap</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {swaps.map((swap) => (
          <tr key={swap.swapId}>
            <td data-name="When">
              <time dateTime={swap.createdAt}>{new Date(swap.createdAt).toLocaleString()}</time>
            </td>
            <td data-name="Swap">
              <NavLink href={hrefOf('explore', { swap: swap.swapId })} class="mono">
                {shorten(swap.swapId)}
              </NavLink>
            </td>
            <td data-name="From">
              {sideOf(catalog, swap.originChain, swap.inputToken, swap.amounts.input)}
              {returnOf(swap)}
            </td>
            <td data-name="To">
              {swap.amounts.delivered === undefined
                ? '–'
                : sideOf(catalog, swap.destinationChain, swap.outputToken, swap.amounts.delivered)}
            </td>
            <td data-name="Status">
              <span class={`badge ${swap.status}`}>{swap.status}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function sideOf(catalog: Catalog, chainId: number, address: string, amount: string): string {
  const token = tokenOf(catalog, chainId, address)
  const chain = chainOf(catalog, chainId)?.name ?? `chain ${chainId}`
  return token ? `${formatUnits(amount, token)} on ${chain}` : `${amount} on ${chain}`
}
