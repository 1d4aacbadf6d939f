import { readFileSync } from 'node:fs'
import type { Hex } from 'viem'
import { geoAccountRuntime } from '../../protocol/src/abi/geo-account.gen.ts'
import { geoEscrowBytecode, geoEscrowRuntime } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultBytecode, geoVaultRuntime } from '../../protocol/src/abi/geo-vault.gen.ts'
import type { Contracts } from '../scripts/compile.ts'

type Runtime = { bytecode: Hex; immutables: readonly number[] }

const file = process.env.CONTRACTS_FILE
/** Contracts of changed sources, or compiled in another way, to be tested instead of the committed ones. */
export const otherContracts: Contracts | undefined = file ? JSON.parse(readFileSync(file, 'utf8')) : undefined

export const escrowBytecode: Hex = otherContracts?.GeoEscrow?.bytecode ?? geoEscrowBytecode
export const vaultBytecode: Hex = otherContracts?.GeoVault?.bytecode ?? geoVaultBytecode
export const accountRuntime = runtimeOf('GeoAccount', geoAccountRuntime)
export const escrowRuntime = runtimeOf('GeoEscrow', geoEscrowRuntime)
export const vaultRuntime = runtimeOf('GeoVault', geoVaultRuntime)

function runtimeOf(name: string, committed: Runtime): Runtime {
  const other = otherContracts?.[name]
  return other ? { bytecode: other.runtimeBytecode, immutables: other.immutables } : committed
}
