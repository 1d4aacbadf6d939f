import type { KeyPairSigner } from '@solana/kit'
import type { Address } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Random } from '../../bench/random.ts'
import type { SolanaWorld } from '../../solana-world.ts'
import type { Side, World } from '../../world.ts'
import type { ChainName, ClientPlan, EvmChainName } from '../plan.ts'
import type { Caller } from './caller.ts'

/** `payer`: whoever sends a deposit, such as an exchange. */
export type Party = {
  plan: ClientPlan
  wallet: PrivateKeyAccount | KeyPairSigner
  recipient: string
  payer?: Address
}
export type Scene = {
  world: World
  solana: SolanaWorld
  caller: Caller
  stranger: Caller
  random: Random
  /** Of an op's own address, once a client knows it. */
  onOpAddress(chain: EvmChainName, address: Address): void
  isOver(): boolean
}

/** Asks for an offer. */
export type Ask = <AnyOffer>() => Promise<AnyOffer | undefined>

/** The payments of a wallet for one offer, each as a header. */
export type Payer = {
  first: string
  /** A second one, which is as good. */
  second(): Promise<string>
  /** Payments that nobody may take. */
  wrong(ask: Ask): Promise<string[]>
  /** Takes the money of the first payment away, while that is on its way. */
  takeBack(): Promise<void>
}

/** USDC has six decimals everywhere but on one chain. */
const unitOf = (place: ChainName) => (place === 'beta' ? 10n ** 18n : 10n ** 6n)

// One ETH is 2,500 USD.
const WEI_PER_USD = 4n * 10n ** 14n

export function amountOf({ from, sell, usd }: ClientPlan): bigint {
  if (sell === 'GEO') return BigInt(usd) * 10n ** 18n
  return BigInt(usd) * (sell === 'ETH' ? WEI_PER_USD : unitOf(from))
}
export const sideOf = ({ world, solana }: Pick<Scene, 'world' | 'solana'>, place: ChainName): Side =>
  place === 'solana' ? solana : world.chainNamed(place)
