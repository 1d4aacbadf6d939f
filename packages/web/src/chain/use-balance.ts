import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Holding, readBalance } from './balance.ts'

const REFRESH_MS = 5_000

export type Balance = { balance: bigint | undefined; refresh(): Promise<bigint | undefined> }

/** The balance of a wallet, undefined until a node has answered; `refresh` reads it at once. */
export function useBalance(holding: Holding | undefined): Balance {
  const [balance, setBalance] = useState<bigint>()
  // Identifies the holding, which is a new object on each render.
  const key = holding && `${holding.rpcUrl} ${holding.owner} ${holding.token.address}`
  const current = useRef<string>(undefined)
  current.current = key
  const refresh = useCallback(async () => {
    // A node that does not answer is asked again; until then no balance is shown.
    const amount = holding && (await readBalance(holding).catch(() => undefined))
    if (current.current === key) setBalance(amount)
    return amount
  }, [key])
  useEffect(() => {
    setBalance(undefined)
    void refresh()
    const timer = setInterval(() => void refresh(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [refresh])
  return { balance, refresh }
}
