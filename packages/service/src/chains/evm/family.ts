import { getAddress, type Hex, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { attesterAddresses } from '../../swap/attester-set.ts'
import type { Family } from '../family.ts'
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

/** Chains with an EVM. */
export const evm = {
  name: 'evm',
  title: 'EVM',
  schema: EvmChain,
  nativeToken: { address: zeroAddress, decimals: 18 },
  addresses: {
    pattern: /^0x[0-9a-fA-F]{40}$/,
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
    callsPerHead: 1,
    // go-ethereum keeps 16 transactions of a sender for sure.
    maxInFlight: 16,
  },
  keys: {
    open: (privateKey) => privateKeyToAccount(privateKey as Hex),
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
