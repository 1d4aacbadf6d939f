import { signRecoverable } from 'tiny-secp256k1'
import {
  bytesToHex,
  getAddress,
  type Hex,
  hashTypedData,
  hexToBytes,
  isAddress,
  keccak256,
  serializeSignature,
  serializeTransaction,
  zeroAddress,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { attesterAddresses } from '../../swap/attester-set.ts'
import type { Family, KeySource } from '../family.ts'
import { parseEvmAddress } from './address.ts'
import { isUnknownBlock } from './agreement.ts'
import { isEvmSilence } from './attempt.ts'
import {
  EvmChain,
  type EvmChainConfig,
  evmConfigRules,
  findEvmFault,
  findPublishedKey,
  findSystemAddress,
} from './config.ts'
import { connectEvm, toContracts } from './connect.ts'
import type { EvmSigner } from './signer.ts'

const roles = [
  'relayer',
  'authorization-relayer',
  'deliverer',
  'attester',
  'deployer',
  'treasury',
  'guardian',
  'float',
] as const

const sources: readonly KeySource[] = [
  {
    process: 'worker',
    variable: 'GEOSWAP_RELAYER_KEYS',
    roles: ['relayer', 'authorization-relayer'],
    isNeeded: ({ relayers, authorizationRelayers }, { isRemote }) =>
      !isRemote(relayers, authorizationRelayers),
  },
  {
    process: 'worker',
    variable: 'GEOSWAP_DELIVERER_KEYS',
    roles: ['deliverer'],
    isNeeded: ({ deliverers }, { isRemote }) => !isRemote(deliverers),
  },
  {
    process: 'worker',
    variable: 'GEOSWAP_FLOAT_KEY',
    roles: ['float'],
    isNeeded: ({ gasFloat }: { gasFloat?: { evm?: string } }, { isRemote }) =>
      gasFloat?.evm !== undefined && !isRemote(gasFloat.evm),
  },
  {
    process: 'attester',
    variable: 'GEOSWAP_ATTESTER_KEY',
    roles: ['attester'],
    // An attester signs for some members of a set. A remote signer with one of them may be all it needs.
    isNeeded: ({ attesters, nextAttesters }, { isRemote }) =>
      ![attesters?.members, nextAttesters?.members].flat().some((address) => isRemote(address)),
  },
]

// Web3 Secret Storage omits prefix and checksum.
function readAddress(text: string): string {
  const address = text.startsWith('0x') ? text : `0x${text}`
  return isAddress(address, { strict: false }) ? getAddress(address) : address
}

/** Chains with an EVM. */
export const evm = {
  name: 'evm',
  title: 'EVM',
  schema: EvmChain,
  nativeToken: { address: zeroAddress, decimals: 18 },
  addresses: {
    pattern: /^0x[0-9a-fA-F]{40}$/,
    form: 'an EVM address, such as 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, in one case or with a right checksum',
    parse: parseEvmAddress,
    canSign: () => true,
    keyOf: (address) => address.toLowerCase(),
    findFault: findEvmFault,
    findRoleFault: findPublishedKey,
    findContractFault: findSystemAddress,
  },
  config: evmConfigRules,
  traits: {
    limitsHold: true,
    hasContracts: true,
    capsPayouts: true,
    paysOnlyFees: true,
    callsPerHead: (nodes) => nodes,
    // go-ethereum keeps 16 transactions of a sender for sure.
    maxInFlight: 16,
  },
  keys: {
    roles,
    sources,
    open: (privateKey) => openKey(privateKey as Hex),
    addressOf: (privateKey) => privateKeyToAddress(privateKey as Hex),
    inFile: { write: (address) => address.slice(2).toLowerCase(), read: readAddress },
    ofWorker: ({ relayers, authorizationRelayers, deliverers }) =>
      [...relayers, ...authorizationRelayers, ...deliverers].map((address) => getAddress(address)),
    ofAttesters: (network) => attesterAddresses(network).map((address) => getAddress(address)),
  },
  custodyOf: toContracts,
  pinsOf: ({ contracts }) => contracts,
  isSilence: isEvmSilence,
  isBehind: isUnknownBlock,
  connect: connectEvm,
} satisfies Family<EvmChainConfig, 'evm'>

/**
 * Signs by libsecp256k1, in a quarter of the time of viem's implementation. Both derive the nonce by RFC 6979, so that
 * the bytes are equal. See docs/decisions.md#a-faster-recovery-of-signers.
 */
export function openKey(privateKey: Hex): EvmSigner {
  const key = hexToBytes(privateKey)
  const sign = (hash: Hex) => {
    const { signature, recoveryId } = signRecoverable(hexToBytes(hash), key)
    const [r, s] = [bytesToHex(signature.subarray(0, 32)), bytesToHex(signature.subarray(32))]
    return { r, s, yParity: recoveryId & 1, v: recoveryId & 1 ? 28n : 27n }
  }
  return {
    address: privateKeyToAddress(privateKey),
    signTransaction: async (transaction) =>
      serializeTransaction(transaction, sign(keccak256(serializeTransaction(transaction)))),
    signTypedData: async (typed) => serializeSignature(sign(hashTypedData(typed))),
  }
}
