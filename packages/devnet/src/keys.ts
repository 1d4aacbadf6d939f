import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { getAddressDecoder, type Address as SolanaAddress } from '@solana/kit'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'

export type Key = { privateKey: Hex; address: Address }
/** `seed` is the private part of an Ed25519 key: 32 bytes. */
export type SolanaKey = { seed: Hex; address: SolanaAddress }

/**
 * Every key of one network. Random at each start, since a well-known key would invite reuse on a real chain.
 */
export type Keys = {
  treasury: Key
  attesters: Key[]
  /** How many of the attesters have to sign. */
  threshold: number
  relayers: Key[]
  /** Lock the first inputs of wallets, with their authorizations. */
  authorizationRelayers: Key[]
  deliverers: Key[]
  faucet: Key
  keeper: Key
  /** `kid:64hex`, the key that seals the service's tokens. */
  seal: string
  solana: SolanaKeys
  /** Authenticates at the operator API. */
  operator: string
}

export type SolanaKeys = {
  inventory: SolanaKey
  attester: SolanaKey
  feePayers: { input: SolanaKey; delivery: SolanaKey }
  /** Gives away SOL and is every mint's authority. */
  faucet: SolanaKey
}

export function createKeys({ attesters = 1, threshold = 1 } = {}): Keys {
  return {
    treasury: createKey(),
    attesters: Array.from({ length: attesters }, createKey),
    threshold,
    relayers: Array.from({ length: 4 }, createKey),
    authorizationRelayers: Array.from({ length: 2 }, createKey),
    deliverers: Array.from({ length: 2 }, createKey),
    faucet: createKey(),
    keeper: createKey(),
    seal: `local1:${randomBytes(32).toString('hex')}`,
    solana: {
      inventory: createSolanaKey(),
      attester: createSolanaKey(),
      feePayers: { input: createSolanaKey(), delivery: createSolanaKey() },
      faucet: createSolanaKey(),
    },
    operator: randomBytes(32).toString('hex'),
  }
}

/** The secrets of each role of the service, as environment variables: no role can sign as another. */
export function toServiceSecrets(keys: Keys) {
  const { inventory, feePayers } = keys.solana
  const seeds = [inventory, feePayers.input, feePayers.delivery].map(({ seed }) => seed)
  const list = (pairs: readonly Key[]) => pairs.map(({ privateKey }) => privateKey).join(',')
  return {
    api: { GEOSWAP_SEAL_KEYS: keys.seal },
    worker: {
      GEOSWAP_RELAYER_KEYS: list([...keys.relayers, ...keys.authorizationRelayers]),
      GEOSWAP_DELIVERER_KEYS: list(keys.deliverers),
      GEOSWAP_SOLANA_KEYS: seeds.join(','),
    },
    attester: attesterSecrets(keys),
  }
}

/** The secrets of one attester. All of them have the one key of Solana. */
export function attesterSecrets({ attesters, solana }: Pick<Keys, 'attesters' | 'solana'>, index = 0) {
  return {
    GEOSWAP_ATTESTER_KEY: attesters[index]?.privateKey ?? '',
    GEOSWAP_SOLANA_ATTESTER_KEY: solana.attester.seed,
  }
}

function createKey(): Key {
  const privateKey = generatePrivateKey()
  return { privateKey, address: privateKeyToAddress(privateKey) }
}

function createSolanaKey(): SolanaKey {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return {
    seed: `0x${Buffer.from(d, 'base64url').toString('hex')}`,
    address: getAddressDecoder().decode(Buffer.from(x, 'base64url')),
  }
}
