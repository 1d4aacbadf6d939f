import { randomBytes } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'

export type Key = { privateKey: Hex; address: Address }

/** Every key of one network. Fresh at each start: a well-known key would invite reuse on a real chain. */
export type Keys = {
  treasury: Key
  attester: Key
  relayers: Key[]
  deliverers: Key[]
  faucet: Key
  keeper: Key
  /** `kid:64hex`, what the service seals its tokens with. */
  seal: string
}

export function createKeys(): Keys {
  return {
    treasury: createKey(),
    attester: createKey(),
    relayers: Array.from({ length: 4 }, createKey),
    deliverers: Array.from({ length: 2 }, createKey),
    faucet: createKey(),
    keeper: createKey(),
    seal: `local1:${randomBytes(32).toString('hex')}`,
  }
}

function createKey(): Key {
  const privateKey = generatePrivateKey()
  return { privateKey, address: privateKeyToAddress(privateKey) }
}
