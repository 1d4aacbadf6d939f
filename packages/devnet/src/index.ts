export { type DeployedChain, deployContracts } from './deploy.ts'
export { type DeployedSolanaChain, deploySolana } from './deploy-solana.ts'
export {
  attesterSecrets,
  createKeys,
  type Key,
  type Keys,
  type SolanaKey,
  type SolanaKeys,
  toServiceSecrets,
} from './keys.ts'
export { type Network, type NetworkOptions, startNetwork } from './network.ts'
export type { LocalChain, LocalNetwork, LocalShape, ServiceConfig } from './network-files.ts'
export { EVM_CHAINS, planOf, type Shape, SOLANA_CHAIN } from './plan.ts'
export { createLogins, type DatabaseUrls } from './postgres/logins.ts'
export { type Postgres, startPostgres } from './postgres/start-postgres.ts'
export {
  type ChainTime,
  controlShape,
  DIRECT_PATH,
  type MeterRow,
  type ShapeControl,
  type ShapeControls,
} from './shape/control-methods.ts'
export { EVM_SHAPES, type EvmShape, type EvmShapeName } from './shape/evm-shape.ts'
export {
  type ChainOptions,
  type RunningChain,
  type RunningSolanaChain,
  type SolanaProcessOptions,
  startChain,
  startSolanaProcess,
} from './start-chain.ts'
export { type DeployedUniswapV3, deployUniswapV3 } from './uniswap-v3/deploy-uniswap-v3.ts'
