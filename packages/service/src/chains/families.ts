import Type, { type Static } from 'typebox'
import { address, type Finished, solanaAddress } from '../config/fields.ts'
import type { EvmChainConfig } from './evm/config.ts'
import { evm } from './evm/family.ts'
import type * as port from './family.ts'
import type { SolanaChainConfig } from './solana/config.ts'
import { solana } from './solana/family.ts'

const all = [evm, solana] as const

export type FamilyName = (typeof all)[number]['name']
export type Family = port.Family<ChainConfig, FamilyName>
/** Roles of key files; a key has one role. */
export type KeyRole = (typeof all)[number]['keys']['roles'][number]
/** A chain as written, and with its defaults. */
export type ChainFile = Static<typeof ChainSchema>
export type ChainConfig = ChainFile & Finished
export type ConnectedChain = port.ConnectedChain<ChainConfig>
export type { EvmChainConfig, SolanaChainConfig }

/** Every family of chains. No other file outside their folders names one. */
export const families: readonly Family[] = all
export const keyRoles: readonly KeyRole[] = all.flatMap(({ keys }): readonly KeyRole[] => keys.roles)
export const ChainSchema = Type.Union([evm.schema, solana.schema])

/** The addresses in `gasFloat`, by family. */
export const floatFields = {
  evm: Type.Optional(address('Address that pays on EVM chains.')),
  solana: Type.Optional(solanaAddress('Address that pays on Solana.')),
}

export function familyOf({ family }: { family: string }): Family {
  const found = families.find(({ name }) => name === family)
  if (!found) throw new Error(`Unknown family of chains: ${family}`)
  return found
}

/** Of the keys with this role; undefined if no family has it. */
export function familyOfRole(role: string): Family | undefined {
  return families.find(({ keys }) => keys.roles.includes(role))
}

/** By the form of the address alone. */
export function familyOfAddress(text: string): Family | undefined {
  return families.find(({ addresses }) => addresses.pattern.test(text))
}

/** Asks each family about those of the chains that are its own. */
export function askEach<T, C extends { family: string }>(
  chains: readonly C[],
  ask: (family: Family, own: readonly C[]) => readonly T[],
): T[] {
  return families.flatMap((family) =>
    ask(
      family,
      chains.filter((chain) => familyOf(chain) === family),
    ),
  )
}
