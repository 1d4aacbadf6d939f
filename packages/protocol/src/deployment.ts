import {
  type Address,
  concat,
  encodeDeployData,
  getContractAddress,
  type Hex,
  keccak256,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  size,
  toHex,
} from 'viem'
import { geoAccountRuntime } from './abi/geo-account.gen.ts'
import { geoEscrowRuntime } from './abi/geo-escrow.gen.ts'
import { geoVaultAbi, geoVaultBytecode, geoVaultRuntime } from './abi/geo-vault.gen.ts'
import {
  uniswapV3AdapterAbi,
  uniswapV3AdapterBytecode,
  uniswapV3AdapterRuntime,
} from './abi/uniswap-v3-adapter.gen.ts'

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

/** The messages that attesters sign, in the escrow's domain. */
export const attestationTypes = {
  Claims: [{ name: 'ops', type: 'bytes32[]' }],
  Refund: [
    { name: 'op', type: 'bytes32' },
    { name: 'validUntil', type: 'uint256' },
  ],
} as const

/** An attester's signature, of 65 bytes or in its compact form of 64 (EIP-2098). */
export type AttesterSignature = { signer: Address; signature: Hex }

/** Attesters in the order in which the escrow keeps them and takes their signatures. */
export function sortAttesters(attesters: readonly Address[]): Address[] {
  return [...attesters].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
}

/** Attesters' signatures as the escrow takes them: sorted by signer, compact, joined. */
export function joinSignatures(signatures: readonly AttesterSignature[]): Hex {
  const bySigner = new Map(signatures.map(({ signer, signature }) => [BigInt(signer), signature]))
  const signers = sortAttesters(signatures.map(({ signer }) => signer))
  if (bySigner.size !== signers.length) throw new TypeError('an attester has signed twice')
  return concat(signers.map((signer) => toCompact(bySigner.get(BigInt(signer)) ?? '0x')))
}

function toCompact(signature: Hex): Hex {
  if (size(signature) === 64) return signature
  return serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
}

/** An escrow slot: round (32 bits), state (2), low 222 bits of the op's hash. */
export type SlotState = 'none' | 'locked' | 'claimed' | 'refunded'

const STATES = ['none', 'locked', 'claimed', 'refunded'] as const satisfies readonly SlotState[]
const HASH_BITS = 222

/** The state of this op by the slot's word: `none` also if the slot holds another op. */
export function slotStateOf(word: bigint, opHash: Hex): SlotState {
  if (BigInt.asUintN(HASH_BITS, word) !== BigInt.asUintN(HASH_BITS, BigInt(opHash))) return 'none'
  return STATES[Number((word >> 222n) & 3n)] ?? 'none'
}
