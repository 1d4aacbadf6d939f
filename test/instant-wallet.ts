import { type Address, concat, type Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { WorldChain } from './world.ts'

// EIP-7702: the code of a delegated account is this prefix followed by the delegate's address.
const DELEGATION_PREFIX = '0xef0100'

/** A new wallet with native coin at once, without waiting for a block. */
export async function instantWallet(chain: WorldChain, value = 10n ** 18n): Promise<PrivateKeyAccount> {
  const wallet = privateKeyToAccount(generatePrivateKey())
  await chain.client.setBalance({ address: wallet.address, value })
  return wallet
}

/** The same, already delegated. */
export async function delegatedWallet(chain: WorldChain, value?: bigint): Promise<PrivateKeyAccount> {
  const wallet = await instantWallet(chain, value)
  await delegateTo(chain, wallet.address, chain.contracts.account)
  return wallet
}

export function delegateTo(chain: WorldChain, address: Address, delegate: Address): Promise<void> {
  return setCode(chain, address, concat([DELEGATION_PREFIX, delegate]))
}

export function setCode({ client }: WorldChain, address: Address, bytecode: Hex): Promise<void> {
  return client.setCode({ address, bytecode })
}
