import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import { type Address, formatUnits } from 'viem'
import { asEvm } from '../../chains/evm/connect.ts'
import { type ConnectedChain, familyOf } from '../../chains/families.ts'
import type { NetworkConfig } from '../../config.ts'
import { formatCents, type PriceE18, toCents, usdE18 } from '../../swap/amount.ts'
import type { Token } from '../../swap/catalog.ts'
import { limitPayable } from '../../venues/registry.ts'

/** The hourly limit of payouts or claims, and its used part. */
export type Cap = { limit: bigint; used: bigint }

/** The stock of one token on one chain, in its smallest unit. */
export type TokenStock = {
  chain: string
  token: Token
  price: PriceE18 | undefined
  /** The vault's balance on the chain. */
  held: bigint
  /** Reserved for accepted swaps and pending withdrawals. */
  reserved: bigint
  free: bigint
  /** Inputs in the escrow, and the part that the operator will claim. */
  inEscrow: bigint
  toClaim: bigint
  cap: Cap | undefined
  claimCap: Cap | undefined
  /** The largest output that a quote offers. */
  mostPerSwap: bigint
}

/** `ofSwaps`: inputs of open swaps in the escrow. */
type Booked = { reserved: bigint; toClaim: bigint; ofSwaps: bigint }

export function vaultOf({ config }: ConnectedChain): string {
  return familyOf(config).custodyOf(config).vault
}

/** Without contracts each input has an account of its own: the open swaps have their sum. */
async function readEscrow(connected: ConnectedChain, token: string, ofSwaps: bigint): Promise<bigint> {
  const { contracts, readTokenBalance } = connected
  return contracts ? readTokenBalance(contracts.escrow, token) : ofSwaps
}

/** The vault's payable balance of a token; the rent-exempt minimum of a Solana account stays. */
export async function readHeld(connected: ConnectedChain, token: string): Promise<bigint> {
  if (connected.contracts) return connected.readTokenBalance(vaultOf(connected), token)
  const { head } = await connected.chain.readHeads()
  const holdings = await connected.chain.readHoldings(head)
  return holdings.find((holding) => holding.token === token)?.amount ?? 0n
}

export async function readStock(
  network: NetworkConfig,
  connected: ConnectedChain,
  token: Token,
  known: Booked & { price: PriceE18 | undefined },
): Promise<TokenStock> {
  const { reserved, toClaim, price, ofSwaps } = known
  const [held, inEscrow, caps] = await Promise.all([
    readHeld(connected, token.address),
    readEscrow(connected, token.address, ofSwaps),
    readCaps(connected, token.address as Address),
  ])
  const free = held > reserved ? held - reserved : 0n
  const left = caps ? atLeastZero(caps.cap.limit - caps.cap.used - reserved) : free
  const payable = free < left ? free : left
  return {
    chain: connected.config.name,
    token,
    price,
    held,
    reserved,
    free,
    inEscrow,
    toClaim,
    cap: caps?.cap,
    claimCap: caps?.claimCap,
    mostPerSwap: price === undefined ? 0n : limitPayable(network, { ...token, price }, payable),
  }
}

const atLeastZero = (amount: bigint) => (amount > 0n ? amount : 0n)

/** Contracts have caps; the vault on Solana is an account and has none. */
async function readCaps(connected: ConnectedChain, token: Address) {
  const evm = asEvm(connected)
  if (!evm) return undefined
  const { client, contracts } = evm
  const [cap, claimCap] = await Promise.all([
    client.readContract({ address: contracts.vault, abi: geoVaultAbi, functionName: 'caps', args: [token] }),
    client.readContract({
      address: contracts.escrow,
      abi: geoEscrowAbi,
      functionName: 'claimCaps',
      args: [token],
    }),
  ])
  const toCap = ([limit, used]: readonly [bigint, bigint]): Cap => ({ limit, used })
  return { cap: toCap(cap), claimCap: toCap(claimCap) }
}

/** Formats an amount in whole coins. */
export function inCoins(amount: bigint, { decimals }: Pick<Token, 'decimals'>): string {
  return formatUnits(amount, decimals)
}

export function inUsd(amount: bigint, { token, price }: Pick<TokenStock, 'token' | 'price'>) {
  if (price === undefined) return undefined
  return formatCents(toCents(usdE18(amount, { decimals: token.decimals, price })))
}
