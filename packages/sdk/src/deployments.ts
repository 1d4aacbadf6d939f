import type { KnownContracts } from './checks/terms.ts'

/**
 * Deployments that ship with the package, by chain. Empty, since nothing is deployed on a public chain yet:
 * the caller names the contracts, or a node to read them from.
 */
export const DEPLOYMENTS: Readonly<Record<number, KnownContracts>> = {}
