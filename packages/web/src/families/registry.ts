import { evm } from './evm.ts'
import type { Family, FamilyName } from './family.ts'
import { solana } from './solana.ts'

export const families: Readonly<Record<FamilyName, Family>> = { evm, solana }

/** In the order in which the page lists them. */
export const familyNames = Object.keys(families) as FamilyName[]
