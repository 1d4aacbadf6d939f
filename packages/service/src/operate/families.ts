import { askEach, type ChainConfig, type FamilyName } from '../chains/families.ts'
import { evm } from './evm/family.ts'
import type { Operate } from './family.ts'
import { solana } from './solana/family.ts'

const all: Readonly<Record<FamilyName, Operate>> = { evm, solana }

export function operateOf({ family }: { family: FamilyName }): Operate {
  return all[family]
}

/** These chains by family. */
export function byFamily(chains: readonly ChainConfig[]) {
  return askEach(chains, (family, own) =>
    own.length === 0 ? [] : [{ family, operate: operateOf({ family: family.name }), chains: own }],
  )
}
