import type { StatusReply } from '@geoswap/sdk'
import { formatExact, formatUnits, shorten } from '../amounts.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Countdown } from '../parts/countdown.tsx'
import { Row } from '../parts/row.tsx'
import { timeOf } from '../parts/time.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import type { ActiveSwap } from './active.ts'

type Props = { active: ActiveSwap; deposit: NonNullable<ActiveSwap['deposit']>; swap: StatusReply }

/** The transfer that the swap waits for: the address that this browser has computed, and the exact amount. */
export function DepositPanel({ active, deposit, swap }: Props) {
  const { catalog } = useSession()
  const { originChain, inputToken, walletAddress } = active.request
  const chain = chainOf(catalog, originChain)
  const token = tokenOf(catalog, originChain, inputToken)
  if (!chain || !token) return null
  const { address, amount, until, openedAt } = deposit
  const received = BigInt(swap.deposit?.received ?? 0)
  const missing = BigInt(amount) - received
  const seconds = Math.round((Date.parse(until) - openedAt) / 1_000)
  return (
    <>
      <dl class="rows">
        <Row name={`Send exactly, in ${token.symbol}`}>
          <Copyable text={formatExact(missing > 0n ? missing : 0n, token.decimals)} label="amount" whole />
        </Row>
        <Row name={`To this address on ${chain.name}`}>
          <Copyable text={address} label="deposit address" whole />
        </Row>
        {!token.native && (
          <Row name="Token">
            <Copyable text={token.address} label="token" />
          </Row>
        )}
        <Row name={`By ${timeOf(Date.parse(until) / 1_000)}`}>
          <Countdown until={until} whole={seconds} />
        </Row>
        {received > 0n && <Row name="Received">{formatUnits(received, token)}</Row>}
      </dl>
      <p class="prose">
        From any wallet or exchange, in one transfer. Too little, too late or another token is not swapped and
        goes back to <span class="mono">{shorten(walletAddress)}</span>; so does whatever is too much, after{' '}
        {timeOf(Date.parse(until) / 1_000)}.
      </p>
    </>
  )
}
