import type { RefundableOp } from '@geoswap/protocol'
import { useEffect, useState } from 'preact/hooks'
import { ActionButton } from '../parts/action-button.tsx'
import { Notice } from '../parts/notice.tsx'
import { TxLink } from '../parts/tx-link.tsx'
import { useNow } from '../parts/use-now.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { Funds } from '../swap/funds.tsx'
import { useFunds } from '../swap/use-funds.ts'
import { readEscrow, sendRefund } from './refund.ts'

type Props = { op: RefundableOp; rpcUrl: string | undefined }
type State = { words?: string; txHash?: string; isBusy: boolean; problem?: string }

/** Sends the refund from the current wallet. The chain, not the service, decides whether it is possible. */
export function RefundButton({ op, rpcUrl }: Props) {
  const { catalog, wallets } = useSession()
  const [state, setState] = useState<State>({ isBusy: false })
  const chain = chainOf(catalog, op.origin.chainId)
  const coin = chain && tokenOf(catalog, chain.chainId, chain.native.address)
  const wallet = wallets.used.evm
  const escrow = useEscrow(op, rpcUrl)
  const funds = useFunds(chain, coin)
  if (!rpcUrl)
    return (
      <p class="prose">
        This page has no node of this chain, so it cannot send the refund itself. The command can.
      </p>
    )

  const send = async () => {
    if (!wallet?.send) return
    setState({ isBusy: true, words: 'Sending the refund…' })
    await sendRefund({ op, rpcUrl, send: wallet.send }).then(
      (txHash) => setState({ isBusy: false, txHash, words: 'The escrow has sent the input back.' }),
      (error: Error) => setState({ isBusy: false, problem: error.message }),
    )
  }
  return (
    <div class="stack">
      <p class="prose" role="status">
        {state.words ?? escrow.words}
      </p>
      {escrow.canRefund && !state.txHash && coin && chain && (
        <Funds chain={chain} token={coin} funds={funds} />
      )}
      {state.problem && (
        <Notice tone="bad">
          <p>{state.problem} Get a little gas coin for the wallet if it has none, then try again.</p>
        </Notice>
      )}
      {state.txHash ? (
        <TxLink hash={state.txHash} chainId={op.origin.chainId} label="transaction of the refund" />
      ) : (
        <ActionButton
          class="primary"
          isDisabled={!escrow.canRefund || !wallet?.send || state.isBusy}
          onClick={send}
        >
          Refund now
        </ActionButton>
      )}
    </div>
  )
}

const REFRESH_MS = 4_000

/** The state of the escrow and the clock of its chain, updated regularly. */
function useEscrow(op: RefundableOp, rpcUrl: string | undefined): { words: string; canRefund: boolean } {
  const [read, setRead] = useState<{ state: string; chainNow: number; at: number }>()
  const now = useNow()
  const { hash } = op
  useEffect(() => {
    if (!rpcUrl) return undefined
    let isOver = false
    const ask = async () => {
      // A node that does not answer is asked again.
      const answer = await readEscrow(rpcUrl, op).catch(() => undefined)
      if (!isOver && answer) setRead({ ...answer, at: Date.now() })
    }
    void ask()
    const timer = setInterval(() => void ask(), REFRESH_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [hash, rpcUrl])

  if (!read) return { words: 'Asking the chain…', canRefund: false }
  if (read.state === 'claimed')
    return { words: 'The output was delivered and the input claimed.', canRefund: false }
  if (read.state === 'refunded') return { words: 'The escrow has sent the input back.', canRefund: false }
  if (read.state !== 'locked')
    return {
      words: 'The escrow does not hold the input: it was never locked, or was returned earlier.',
      canRefund: false,
    }
  const left = Number(op.refundDeadline) - read.chainNow - Math.floor((now - read.at) / 1_000)
  if (left < 0)
    return { words: 'The deadline has passed. Anyone can send the input back now.', canRefund: true }
  return {
    words: `The escrow holds the input. Anyone can send it back in ${minutes(left)}.`,
    canRefund: false,
  }
}

function minutes(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
