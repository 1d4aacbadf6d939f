import type { KeyPairSigner } from '@solana/kit'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Random } from '../../bench/random.ts'
import type { SolanaWorld } from '../../solana-world.ts'
import type { Side, World } from '../../world.ts'
import type { ChainName, ClientPlan } from '../plan.ts'
import type { Caller } from './caller.ts'

export type Party = { plan: ClientPlan; wallet: PrivateKeyAccount | KeyPairSigner; recipient: string }
export type Scene = {
  world: World
  solana: SolanaWorld
  caller: Caller
  stranger: Caller
  random: Random
  isOver(): boolean
}

/** USDC has six decimals everywhere but on one chain. */
const unitOf = (place: ChainName) => (place === 'beta' ? 10n ** 18n : 10n ** 6n)

export const amountOf = ({ from, usd }: ClientPlan) => BigInt(usd) * unitOf(from)
export const sideOf = ({ world, solana }: Pick<Scene, 'world' | 'solana'>, place: ChainName): Side =>
  place === 'solana' ? solana : world.chainNamed(place)
