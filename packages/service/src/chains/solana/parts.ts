import type { OpId } from '@geoswap/solana-escrow'
import type { Op } from '../../swap/swap.ts'
import type { FindSigned } from '../family.ts'
import type { SolanaClients } from './client.ts'
import { createEscrowAddresses, createFacts, type EscrowAddresses, type Facts } from './facts.ts'
import { type Blockhashes, createBlockhashes } from './heads.ts'
import type { SolanaChainSettings, SolanaSigner } from './settings.ts'

/** The shared dependencies of this folder. */
export type SolanaParts = {
  client: SolanaClients
  settings: SolanaChainSettings
  facts: Facts
  blockhashes: Blockhashes
  addresses: EscrowAddresses
  findSigned: FindSigned
  /** The ring of an op's slot at its origin, of which the hash of its delivery is made. */
  ringOf(op: Pick<Op, 'originChain' | 'locker'>): OpId
  /** Keys that can sign here; empty in a process without keys. */
  signers: readonly SolanaSigner[]
}

type Options = Pick<SolanaParts, 'client' | 'settings' | 'signers' | 'ringOf'> & {
  /** Undefined without a database: then only the chain's own histories are searched. */
  findSigned?: FindSigned | undefined
}

export function createSolanaParts({ findSigned, ...given }: Options): SolanaParts {
  const { client, settings } = given
  const facts = createFacts(client, settings)
  const addresses = createEscrowAddresses(settings, facts)
  const blockhashes = createBlockhashes(client)
  return { ...given, facts, addresses, blockhashes, findSigned: findSigned ?? (async () => new Map()) }
}
