import type { SolanaClients } from './client.ts'
import { createFacts, type Facts } from './facts.ts'
import { createMarkerBook, type MarkerBook } from './marker-book.ts'
import type { SolanaChainSettings } from './settings.ts'
import type { FindSigned } from './signed-payments.ts'
import type { SolanaSigner } from './signer.ts'

/** The shared dependencies of this folder. */
export type SolanaParts = {
  client: SolanaClients
  settings: SolanaChainSettings
  facts: Facts
  markers: MarkerBook
  /** Keys that can sign here; empty in a process without keys. */
  signers: readonly SolanaSigner[]
}

type Options = Pick<SolanaParts, 'client' | 'settings' | 'signers'> & {
  /** Undefined without a database: then only the chain's own histories are searched. */
  findSigned: FindSigned | undefined
}

export function createSolanaParts({ client, settings, signers, findSigned }: Options): SolanaParts {
  const facts = createFacts(client, settings)
  const markers = createMarkerBook(client.agreed, settings.markerKey, findSigned)
  return { client, settings, signers, facts, markers }
}
