import { createRequire } from 'node:module'
import {
  geoAccountBytecode,
  geoAccountRuntime,
  geoEscrowBytecode,
  geoEscrowRuntime,
  geoVaultBytecode,
  geoVaultRuntime,
  uniswapV3AdapterBytecode,
  uniswapV3AdapterRuntime,
} from '@geoswap/protocol'
import { keccak256 } from 'viem'
import { compileProduct } from './compile.ts'

// The committed code, which is deployed.
const committed = {
  GeoAccount: { bytecode: geoAccountBytecode, runtime: geoAccountRuntime },
  GeoEscrow: { bytecode: geoEscrowBytecode, runtime: geoEscrowRuntime },
  GeoVault: { bytecode: geoVaultBytecode, runtime: geoVaultRuntime },
  UniswapV3Adapter: { bytecode: uniswapV3AdapterBytecode, runtime: uniswapV3AdapterRuntime },
}

/**
 * Compiles the sources again and compares the result with the committed code, so that the sources are what
 * runs.
 */
const compiled = compileProduct({ isFresh: true })
const version: string = createRequire(import.meta.url)('solc').version()
console.log(`solc ${version}`)
for (const [name, { bytecode, runtime }] of Object.entries(committed)) {
  const contract = compiled[name]
  const isSame =
    contract?.bytecode === bytecode &&
    contract.runtimeBytecode === runtime.bytecode &&
    contract.immutables.join() === runtime.immutables.join()
  const hash = keccak256(runtime.bytecode)
  console.log(
    `${name}: ${isSame ? `is what its source compiles to, code ${hash}` : 'is NOT what its source compiles to'}`,
  )
  if (!isSame) process.exitCode = 1
}
