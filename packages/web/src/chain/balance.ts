import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { callNode, callNodeBatch, type NodeCall } from './rpc.ts'

type Holding = { chain: ChainEntry; token: TokenEntry; owner: string; rpcUrl: string }

async function readBalance({ chain, token, owner, rpcUrl }: Holding): Promise<bigint> {
  const { method, params } = toCall(chain, token, owner)
  return toAmount(chain, token, await callNode(rpcUrl, method, params))
}

type Holdings = Omit<Holding, 'token'> & { tokens: readonly TokenEntry[] }

// Public nodes limit the calls of a batch.
const BATCH = 20

/** The balances of one wallet on one chain, by token address, in few requests. */
export async function readBalances({ chain, tokens, owner, rpcUrl }: Holdings): Promise<Map<string, bigint>> {
  const found = new Map<string, bigint>()
  for (let start = 0; start < tokens.length; start += BATCH) {
    const some = tokens.slice(start, start + BATCH)
    const replies = await callNodeBatch(
      rpcUrl,
      some.map((token) => toCall(chain, token, owner)),
    )
    for (const [index, token] of some.entries())
      found.set(token.address, toAmount(chain, token, replies[index]))
  }
  return found
}

// The first four bytes of keccak256('balanceOf(address)').
const BALANCE_OF = '0x70a08231'
const commitment = 'confirmed'

function toCall({ family }: ChainEntry, { native, address }: TokenEntry, owner: string): NodeCall {
  if (family === 'solana')
    return native
      ? { method: 'getBalance', params: [owner, { commitment }] }
      : {
          method: 'getTokenAccountsByOwner',
          params: [owner, { mint: address }, { commitment, encoding: 'jsonParsed' }],
        }
  if (native) return { method: 'eth_getBalance', params: [owner, 'latest'] }
  const data = `${BALANCE_OF}${owner.slice(2).toLowerCase().padStart(64, '0')}`
  return { method: 'eth_call', params: [{ to: address, data }, 'latest'] }
}

type TokenAccounts = { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[]

function toAmount({ family }: ChainEntry, { native }: TokenEntry, reply: unknown): bigint {
  if (family === 'evm') return BigInt(reply as string)
  const { value } = reply as { value: unknown }
  if (native) return BigInt(value as number)
  return (value as TokenAccounts).reduce(
    (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
    0n,
  )
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
