import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { callNode } from './rpc.ts'

export type Holding = { chain: ChainEntry; token: TokenEntry; owner: string; rpcUrl: string }

export async function readBalance({ chain, token, owner, rpcUrl }: Holding): Promise<bigint> {
  return chain.family === 'evm' ? readEvm(rpcUrl, owner, token) : readSolana(rpcUrl, owner, token)
}

// The first four bytes of keccak256('balanceOf(address)').
const BALANCE_OF = '0x70a08231'

async function readEvm(rpcUrl: string, owner: string, { native, address }: TokenEntry): Promise<bigint> {
  if (native) return BigInt(await callNode<string>(rpcUrl, 'eth_getBalance', [owner, 'latest']))
  const data = `${BALANCE_OF}${owner.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt(await callNode<string>(rpcUrl, 'eth_call', [{ to: address, data }, 'latest']))
}

type TokenAccounts = {
  value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[]
}

async function readSolana(rpcUrl: string, owner: string, { native, address }: TokenEntry): Promise<bigint> {
  const commitment = 'confirmed'
  if (native) {
    const { value } = await callNode<{ value: number }>(rpcUrl, 'getBalance', [owner, { commitment }])
    return BigInt(value)
  }
  const params = [owner, { mint: address }, { commitment, encoding: 'jsonParsed' }]
  const { value } = await callNode<TokenAccounts>(rpcUrl, 'getTokenAccountsByOwner', params)
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n)
}
