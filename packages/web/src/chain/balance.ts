import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { families } from '../families/registry.ts'
import { callNode, callNodeBatch } from './rpc.ts'

type Holding = { chain: ChainEntry; token: TokenEntry; owner: string; rpcUrl: string }

async function readBalance({ chain, token, owner, rpcUrl }: Holding): Promise<bigint> {
  const { toCall, toAmount } = families[chain.family].balance
  const { method, params } = toCall(token, owner)
  return toAmount(token, await callNode(rpcUrl, method, params))
}

type Holdings = Omit<Holding, 'token'> & { tokens: readonly TokenEntry[] }

// Public nodes limit the calls of a batch.
const BATCH = 20

/** The balances of one wallet on one chain, by token address, in few requests. */
export async function readBalances({ chain, tokens, owner, rpcUrl }: Holdings): Promise<Map<string, bigint>> {
  const { toCall, toAmount } = families[chain.family].balance
  const found = new Map<string, bigint>()
  for (let start = 0; start < tokens.length; start += BATCH) {
    const some = tokens.slice(start, start + BATCH)
    const replies = await callNodeBatch(
      rpcUrl,
      some.map((token) => toCall(token, owner)),
    )
    for (const [index, token] of some.entries()) found.set(token.address, toAmount(token, replies[index]))
  }
  return found
}

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
