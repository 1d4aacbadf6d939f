import type { ChainEntry } from '@geoswap/sdk'
import { isAddress } from 'viem'

type FamilyName = ChainEntry['family']

/** A family of chains, as the page knows it. */
export type Family = {
  /** With its article. */
  anAddress: string
  isAddress(text: string): boolean
}

const evm: Family = {
  anAddress: 'an EVM address',
  isAddress,
}

const solana: Family = {
  anAddress: 'a Solana address',
  isAddress: (text) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text),
}

export const families: Readonly<Record<FamilyName, Family>> = { evm, solana }
