import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Abi, Hex } from 'viem'

const require = createRequire(import.meta.url)

/**
 * Uniswap V3 as built for public chains, from its own npm packages. The hash of a pool's code, from which the
 * periphery computes pool addresses, is the same as on public chains.
 */
export const uniswapV3 = {
  factory: read('v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'),
  router: read('v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json'),
  quoter: read('v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json'),
  positions: read(
    'v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
  ),
} as const

function read(path: string): { abi: Abi; bytecode: Hex } {
  const { abi, bytecode } = JSON.parse(readFileSync(require.resolve(`@uniswap/${path}`), 'utf8'))
  return { abi, bytecode }
}
