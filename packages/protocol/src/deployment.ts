import { type Address, concat, encodeDeployData, getContractAddress, type Hex, keccak256, toHex } from 'viem'
import { geoAccountRuntime } from './abi/geo-account.gen.ts'
import { geoEscrowRuntime } from './abi/geo-escrow.gen.ts'
import { geoVaultAbi, geoVaultBytecode, geoVaultRuntime } from './abi/geo-vault.gen.ts'
import {
  uniswapV3AdapterAbi,
  uniswapV3AdapterBytecode,
  uniswapV3AdapterRuntime,
} from './abi/uniswap-v3-adapter.gen.ts'
import { sortAttesters } from './attestation.ts'

/** Compiled runtime code, with 32 zero bytes wherever the constructor writes an immutable. */
export type RuntimeCode = { bytecode: Hex; immutables: readonly number[] }

// See docs/decisions.md#three-contracts-and-a-ring-of-slots.
/** The hash of deployed code with its immutables blanked: equal for every contract of the same source. */
export function hashCode(code: Hex, { immutables }: Pick<RuntimeCode, 'immutables'>): Hex {
  return keccak256(immutables.reduce(blank, code))
}

export function isCodeOf(code: Hex, runtime: RuntimeCode): boolean {
  return hashCode(code, runtime) === keccak256(runtime.bytecode)
}

function blank(code: Hex, start: number): Hex {
  const from = 2 + start * 2
  return `${code.slice(0, from)}${'0'.repeat(64)}${code.slice(from + 64)}` as Hex
}

/**
 * The deterministic deployment proxy, which most public chains have at this address
 * (github.com/Arachnid/deterministic-deployment-proxy). Its calldata is a salt, then init code, for CREATE2.
 */
export const CREATE2_PROXY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
export const CREATE2_PROXY_CODE: Hex = /* @__PURE__ */ concat([
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0',
  '0x3601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
])

/**
 * Creates the proxy on any chain. The signature was made up and the sender computed from it, so nobody has
 * its key. The sender must be funded with the gas first.
 */
export const CREATE2_PROXY_TRANSACTION: Hex = /* @__PURE__ */ concat([
  '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe',
  CREATE2_PROXY_CODE,
  '0x1ba02222222222222222222222222222222222222222222222222222222222222222',
  '0xa02222222222222222222222222222222222222222222222222222222222222222',
])
/** 100,000 gas at 100 gwei. */
export const CREATE2_PROXY_COST = 10_000_000_000_000_000n

const SALT = /* @__PURE__ */ keccak256(/* @__PURE__ */ toHex('geoswap'))

export type ContractName = 'account' | 'escrow' | 'vault' | 'adapter'
/** The calldata for the proxy, and the address and name of the contract it creates. */
export type Creation = { name: ContractName; address: Address; data: Hex }
export type Deployment = {
  contracts: Record<'account' | 'escrow' | 'vault', Address>
  /** In deployment order. The vault creates the escrow, which creates the account. */
  creations: readonly Creation[]
}

export const CONTRACT_CODE: Record<ContractName, RuntimeCode> = {
  account: geoAccountRuntime,
  escrow: geoEscrowRuntime,
  vault: geoVaultRuntime,
  adapter: uniswapV3AdapterRuntime,
}

/** `threshold` of the attesters must sign. */
export type DeploymentRoles = { treasury: Address; attesters: readonly Address[]; threshold: number }

/** The addresses of the contracts of these roles, equal on every chain. */
export function planDeployment({ treasury, attesters, threshold }: DeploymentRoles): Deployment {
  const args = [treasury, sortAttesters(attesters), BigInt(threshold)] as const
  const code = encodeDeployData({ abi: geoVaultAbi, bytecode: geoVaultBytecode, args })
  const vault = addressOf(code)
  const escrow = getContractAddress({ from: vault, nonce: 1n })
  return {
    contracts: { account: getContractAddress({ from: escrow, nonce: 1n }), escrow, vault },
    creations: [{ name: 'vault', address: vault, data: concat([SALT, code]) }],
  }
}

/** The adapter through which a vault buys from the pools of a Uniswap V3 factory. */
export function planAdapter(factory: Address): Creation {
  const code = { abi: uniswapV3AdapterAbi, bytecode: uniswapV3AdapterBytecode, args: [factory] } as const
  const bytecode = encodeDeployData(code)
  return { name: 'adapter', address: addressOf(bytecode), data: concat([SALT, bytecode]) }
}

function addressOf(bytecode: Hex): Address {
  return getContractAddress({ opcode: 'CREATE2', from: CREATE2_PROXY, salt: SALT, bytecode })
}
