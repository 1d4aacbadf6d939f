import { useCallback, useEffect, useState } from 'preact/hooks'
import { type Holding, readBalance } from './balance.ts'

const REFRESH_MS = 5_000

/** The balance of a wallet, undefined until a node has answered; `refresh` reads it at once. */
export function useBalance(holding: Holding | undefined): { balance: bigint | undefined; refresh(): void } {
  const [balance, setBalance] = useState<bigint>()
  const [asked, setAsked] = useState(0)
  // Identifies the holding, which is a new object on each render.
  const key = holding && `${holding.rpcUrl} ${holding.owner} ${holding.token.address}`
  useEffect(() => {
    let isOver = false
    if (!holding) return setBalance(undefined)
    const read = async () => {
      // A node that does not answer is asked again; until then no balance is shown.
      const amount = await readBalance(holding).catch(() => undefined)
      if (!isOver) setBalance(amount)
    }
    void read()
    const timer = setInterval(() => void read(), REFRESH_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [key, asked])
  return { balance, refresh: useCallback(() => setAsked((count) => count + 1), []) }
}
