import { evm } from './evm.ts'
import type { FamilyName, Input, WalletFamily } from './family.ts'
import { solana } from './solana.ts'

/** By the names that chains of the service have. */
export const families: Readonly<Record<FamilyName, WalletFamily>> = { evm, solana }
export const familyNames = Object.keys(families) as FamilyName[]
export const defaultFamily = evm.name

/** The address in the form of its family; undefined for a text that is an address of none. */
export function parseAnyAddress(text: string): string | undefined {
  return familyNames.map((name) => families[name].parseAddress(text)).find((address) => address !== undefined)
}

/** The input of an operation of any family. */
export function readAnyInput(operation: unknown): Input | undefined {
  return familyNames.map((name) => families[name].readInput(operation)).find((input) => input !== undefined)
}
