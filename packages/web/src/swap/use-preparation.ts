import { type QuoteRequest, SwapRefusedError } from '@geoswap/sdk'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useSession } from '../service/session.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { setActiveSwap } from './active.ts'
import { type Approval, prepareSwap } from './prepare.ts'

export type Phase =
  | { kind: 'form'; error?: unknown }
  | { kind: 'working'; words: string }
  | { kind: 'asking'; approval: Approval; agree(): void }

/** Leads from the order to a submission, with the user's approval in between. */
export function usePreparation() {
  const { client } = useSession()
  const [phase, setPhase] = useState<Phase>({ kind: 'form' })
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])

  const approve = (approval: Approval) =>
    new Promise<void>((resolve) => {
      const agree = () => {
        setPhase({ kind: 'working', words: 'Waiting for the wallet to sign…' })
        resolve()
      }
      setPhase({ kind: 'asking', approval, agree })
    })

  async function start(request: QuoteRequest, { signer }: Wallet): Promise<void> {
    const own = new AbortController()
    controller.current = own
    setPhase({ kind: 'working', words: 'Preparing the operation to sign…' })
    try {
      const { signal } = own
      const { submission, build } = await prepareSwap(client, { request, signer, approve, signal })
      setActiveSwap({ request, submission, operation: build.operation })
    } catch (error) {
      if (!own.signal.aborted || error instanceof SwapRefusedError) setPhase({ kind: 'form', error })
    }
  }

  /** Returns to the form: nothing was signed, or the error was dismissed. */
  function reset(): void {
    controller.current?.abort()
    setPhase({ kind: 'form' })
  }

  return { phase, start, reset }
}
