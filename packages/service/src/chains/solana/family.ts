import { createPrivateKey, createPublicKey } from 'node:crypto'
import { getAddressDecoder } from '@solana/kit'
import type { Family, KeySource } from '../family.ts'
import { NATIVE_TOKEN } from './accounts.ts'
import { isOnCurve, NATIVE_SOL, parseSolanaAddress } from './bytes.ts'
import { isEveryNodeBehind, isSolanaSilence } from './client.ts'
import { findSolanaFault, SolanaChain, type SolanaChainConfig, solanaConfigRules } from './config.ts'
import { connectSolana } from './connect.ts'
import { createSolanaSigner } from './settings.ts'

const WORKER_ROLES = ['inventory', 'fee-input', 'fee-delivery', 'fee-float'] as const
const roles = [
  ...WORKER_ROLES,
  ...(['solana-attester', 'solana-deployer', 'solana-program'] as const),
] as const

type Given = Parameters<KeySource['isNeeded']>[0]

const chainsIn = ({ chains }: Given) =>
  Array.isArray(chains) ? chains.filter((chain) => chain?.family === 'solana') : []

const sources: readonly KeySource[] = [
  {
    process: 'worker',
    variable: 'GEOSWAP_SOLANA_KEYS',
    roles: WORKER_ROLES,
    isNeeded({ gasFloat, ...network }: Given & { gasFloat?: { solana?: string } }, { isRemote }) {
      const isFloatHere = gasFloat?.solana !== undefined && !isRemote(gasFloat.solana)
      const isHere = ({ vault, feePayers }: Record<string, unknown>) =>
        !isRemote(vault, Object.values(feePayers ?? {}))
      const chains = chainsIn(network)
      return chains.some(isHere) || (chains.length > 0 && isFloatHere)
    },
  },
  {
    process: 'attester',
    variable: 'GEOSWAP_SOLANA_ATTESTER_KEY',
    roles: ['solana-attester'],
    // Of several attesters, one at least has it.
    isNeeded: (network, { isGiven, isRemote }) =>
      chainsIn(network).some(({ attester }) => !isRemote(attester)) &&
      ((network.attesters?.members?.length ?? 1) < 2 || isGiven()),
  },
]

// The PKCS #8 prefix of a 32-byte Ed25519 private key (RFC 8410).
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const seedOf = (privateKey: string) => Buffer.from(privateKey.slice(2), 'hex')

function addressOf(privateKey: string): string {
  const der = Buffer.concat([ED25519_PKCS8, seedOf(privateKey)])
  const { x = '' } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  })
  return getAddressDecoder().decode(Buffer.from(x, 'base64url'))
}

/** Clusters of Solana. */
export const solana = {
  name: 'solana',
  title: 'Solana',
  schema: SolanaChain,
  nativeToken: { address: NATIVE_SOL, decimals: NATIVE_TOKEN.decimals },
  addresses: {
    pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
    form: 'a Solana address, such as 9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde',
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
    // Builds use a head for two seconds: it must not be older with more nodes.
    callsPerHead: () => 1.4,
    // They do not wait for each other.
    maxInFlight: 128,
  },
  keys: {
    roles,
    sources,
    open: (privateKey) => createSolanaSigner(seedOf(privateKey)),
    addressOf,
    inFile: { write: (address) => address, read: (text) => text },
    ofWorker: (_network, chains) =>
      chains.flatMap(({ vault, feePayers }) => [vault, ...Object.values(feePayers)]),
    cosignersOf: (chains) => chains.map(({ vault, feePayers }) => [feePayers.delivery, vault] as const),
    ofAttesters: (_network, chains) => chains.map(({ attester }) => attester),
  },
  custodyOf: ({ program, vault }) => ({ program, vault }),
  pinsOf: ({ program, vault, attester }) => ({ escrow: program, vault, attester }),
  isSilence: isSolanaSilence,
  isBehind: isEveryNodeBehind,
  connect: connectSolana,
} satisfies Family<SolanaChainConfig, 'solana'>
