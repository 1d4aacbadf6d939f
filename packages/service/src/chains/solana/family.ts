import type { Family } from '../family.ts'
import { isOnCurve, NATIVE_SOL, parseSolanaAddress } from './bytes.ts'
import { isEveryNodeBehind, isSolanaSilence } from './client.ts'
import { findSolanaFault, SolanaChain, type SolanaChainConfig, solanaConfigRules } from './config.ts'
import { connectSolana } from './connect.ts'
import { NATIVE_TOKEN } from './mint.ts'
import { createSolanaSigner } from './settings.ts'

/** Clusters of Solana. */
export const solana = {
  name: 'solana',
  title: 'Solana',
  schema: SolanaChain,
  nativeToken: { address: NATIVE_SOL, decimals: NATIVE_TOKEN.decimals },
  addresses: {
    pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
    parse: parseSolanaAddress,
    canSign: isOnCurve,
    keyOf: (address) => address,
    findFault: findSolanaFault,
  },
  config: solanaConfigRules,
  traits: {
    limitsHold: false,
    // Anyone may remove the proof of a delivery after this time.
    provenSeconds: 2 * 86_400,
    hasContracts: false,
    capsPayouts: false,
    paysOnlyFees: false,
    // A head takes more calls, for its height and time: it is polled less often while no swap waits for it.
    callsPerHead: 1.4,
    // They do not wait for each other.
    maxInFlight: 128,
  },
  keys: {
    open: (privateKey) => createSolanaSigner(Buffer.from(privateKey.slice(2), 'hex')),
    ofWorker: (_network, chains) =>
      chains.flatMap(({ vault, feePayers }) => [vault, ...Object.values(feePayers)]),
    ofAttesters: (_network, chains) => chains.map(({ attester }) => attester),
  },
  custodyOf: ({ program, vault }) => ({ program, vault }),
  pinsOf: ({ program, vault, attester }) => ({ escrow: program, vault, attester }),
  isSilence: isSolanaSilence,
  isBehind: isEveryNodeBehind,
  connect: connectSolana,
} satisfies Family<SolanaChainConfig, 'solana'>
