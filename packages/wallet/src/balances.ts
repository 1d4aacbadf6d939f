import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { toCaip2 } from '@geoswap/wire/caip'
import { type Catalog, getChain, isAddressOf } from './catalog.ts'
import { type Context, nodeOf } from './context.ts'
import { UserError } from './errors.ts'
import { parseAnyAddress } from './families/registry.ts'
import { chooseAddress } from './wallets.ts'

type Held = {
  chainId: number
  chain: string
  owner: string
  symbol: string
  token: string
  decimals: number
  amount: string
}

/** Includes zero balances. */
export async function readBalances(
  context: Context,
  { chains, tokens }: Catalog,
  { wallet, chain }: { wallet?: string | undefined; chain?: string | undefined },
): Promise<{ owners: Owner[]; held: Held[] }> {
  const asked = chain === undefined ? chains : [getChain(chains, chain)]
  const owners = await findOwners(context, asked, { named: wallet, isStrict: chain !== undefined })
  const read = owners.map((each) => readHeld(context, { ...each, tokens }))
  return { owners, held: (await Promise.all(read)).flat() }
}

type Owner = { chain: ChainEntry; owner: string }

async function findOwners(
  context: Context,
  chains: readonly ChainEntry[],
  { named, isStrict }: { named: string | undefined; isStrict: boolean },
): Promise<Owner[]> {
  const { settings } = context
  const reachable = isStrict
    ? chains
    : chains.filter(({ chainId }) => settings.rpcUrls[chainId] !== undefined)
  const fitting = isStrict ? reachable : reachable.filter((chain) => fits(context, chain, named))
  if (fitting.length === 0) {
    const advice =
      'Set a node with geoswap config set rpc.CHAIN_ID URL; geoswap wallet list lists the wallets.'
    throw new UserError('NO_NODE', 'No chain has both a configured node and a wallet.', { advice })
  }
  return Promise.all(
    fitting.map(async (chain) => {
      const { family, name, chainId } = chain
      return { chain, owner: await chooseAddress(context, { family, chain: name, chainId, named }) }
    }),
  )
}

/** True if the named account, the named wallet, or any wallet if none is named, has an address on the chain. */
function fits({ wallets, settings }: Context, chain: ChainEntry, named: string | undefined): boolean {
  const { family } = chain
  if (named?.includes(':')) return named.startsWith(`${toCaip2(chain)}:`)
  if (named === undefined)
    return settings.local !== undefined || wallets.list().some((each) => each.family === family)
  if (parseAnyAddress(named) !== undefined) return isAddressOf(family, named)
  const wallet = wallets.find(named)
  return wallet === undefined || wallet.family === family
}

async function readHeld(
  context: Context,
  { chain, owner, tokens }: Owner & { tokens: readonly TokenEntry[] },
): Promise<Held[]> {
  const node = nodeOf(context, chain)
  const here = tokens.filter(({ chainId }) => chainId === chain.chainId)
  const read = here.map(async ({ symbol, address: token, decimals }) => {
    const amount = (await node.balanceOf(owner, token)).toString()
    return { chainId: chain.chainId, chain: chain.name, owner, symbol, token, decimals, amount }
  })
  return Promise.all(read)
}
