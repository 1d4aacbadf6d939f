import { type Approval, type QuoteRequest, type Signer, SwapRefusedError } from '@geoswap/sdk'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Balance } from '../chain/balance.ts'
import { hrefOf, replace } from '../route.ts'
import { useSession } from '../service/session.ts'
import { type ActiveSwap, askToPay, setActiveSwap, toStored } from './active.ts'
import { rememberOperation } from './operation.ts'

export type Phase =
  | { kind: 'form'; error?: unknown }
  | { kind: 'working'; words: string }
  /** Agreed: the wallet is signing. */
  | { kind: 'asking'; request: QuoteRequest; approval: Approval; isAgreed: boolean; agree(): void }

/** `order`: in the words of its address. */
type Start = { request: QuoteRequest; order: string; signer: Signer; funds: Balance }

// Between pegged tokens, a larger loss is a mistake.
const MAX_IMPACT_BPS = 500

/** Leads from the order to a submission, with the user's approval in between. */
export function usePreparation() {
  const { client } = useSession()
  const [phase, setPhase] = useState<Phase>({ kind: 'form' })
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])

  const approve = (request: QuoteRequest, approval: Approval, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      const agree = () => {
        setPhase({ kind: 'asking', request, approval, isAgreed: true, agree() {} })
        resolve()
      }
      setPhase({ kind: 'asking', request, approval, isAgreed: false, agree })
    })

  async function start({ request, order, signer, funds }: Start): Promise<void> {
    const own = new AbortController()
    controller.current = own
    setPhase({ kind: 'working', words: 'Preparing the operation to sign…' })
    try {
      const { signal } = own
      const balance = await funds.refresh()
      // The form says what is missing. No signature is asked for that could not be used.
      if (balance !== undefined && balance < BigInt(request.amount)) return setPhase({ kind: 'form' })
      const { build, submission, lockableUntil, payment } = await client.prepare(request, signer, {
        signal,
        approve: (approval) => approve(request, approval, signal),
      })
      replace(hrefOf('swap'))
      const { operation } = build
      const active: ActiveSwap = { request, order, submission, lockableUntil, operation }
      setActiveSwap({ ...active, payment: payment && toStored(payment) })
      if (payment) void askToPay(client, { ...active, payment: toStored(payment) }, signer)
    } catch (error) {
      if (!own.signal.aborted || error instanceof SwapRefusedError) setPhase({ kind: 'form', error })
    }
  }

  /** Opens the swap at once: nothing is signed, and whoever does not pay owes nothing. */
  async function startDeposit({ request, order }: Pick<Start, 'request' | 'order'>): Promise<void> {
    const own = new AbortController()
    controller.current = own
    setPhase({ kind: 'working', words: 'Preparing the address…' })
    try {
      const { signal } = own
      const opened = await client.deposit(request, { maxPriceImpactBps: MAX_IMPACT_BPS, signal })
      const { swapId, operation, depositAddress: address, amount, until } = opened
      rememberOperation(swapId, operation)
      replace(hrefOf('swap'))
      setActiveSwap({
        request,
        order,
        operation,
        swapId,
        deposit: { address, amount, until, openedAt: Date.now() },
      })
    } catch (error) {
      if (!own.signal.aborted) setPhase({ kind: 'form', error })
    }
  }

  /** Returns to the form: nothing was signed, or the error was dismissed. */
  function reset(): void {
    controller.current?.abort()
    setPhase({ kind: 'form' })
  }

  return { phase, start, startDeposit, reset }
}
