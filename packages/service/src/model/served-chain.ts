import type { FloatLimits } from './gas-float.ts'

/**
 * Keys that send transactions: for inputs, claims and refunds, for inputs with an authorization, and for deliveries.
 */
export type Senders = Record<'relay' | 'authorize' | 'deliver', readonly string[]>

/** The gas float of a chain, which tops up the sending keys. */
export type GasFloat = { address: string; limits: FloatLimits }

/** The configured facts of a chain that metrics, the operator's reads and the gas watch need. */
export type ServedChain = {
  chainId: number
  name: string
  family: 'evm' | 'solana'
  nodes: number
  coin: { symbol: string; decimals: number }
  hardSeconds: number
  /** Limits of deliveries against inputs of the chain that are not final, and that are not claimed. */
  caps: { exposedCents: bigint; unclaimedCents: bigint }
  senders: Senders
  /** Senders that get no new work. */
  retiring: readonly string[]
  float: GasFloat | undefined
}

/** The keys of a chain that take new work. */
export function activeSenders(
  { senders, retiring }: Pick<ServedChain, 'senders' | 'retiring'>,
  role: keyof Senders,
): string[] {
  return senders[role].filter((address) => !retiring.includes(address))
}

/** All sending keys of a chain, each once. */
export function sendersOf({ senders }: Pick<ServedChain, 'senders'>): string[] {
  return [...new Set(Object.values(senders).flat())]
}
