import { type Address, getAddress, type PrivateKeyAccount, type PublicClient, zeroAddress } from 'viem'
import { createEvmChain } from '../chains/evm/chain.ts'
import { createEvmClient } from '../chains/evm/client.ts'
import { readDecimals, verifyChain } from '../chains/evm/verify.ts'
import type { EvmChainConfig, NetworkConfig } from '../config.ts'
import { MAX_UINT256 } from '../model/amount.ts'
import type { Token } from '../model/catalog.ts'
import { type PlaceOf, ringOfOp } from '../model/op-terms.ts'
import type { ConnectedChain } from './chains.ts'

export type EvmContracts = { account: Address; escrow: Address; vault: Address }
export type EvmParts = { client: PublicClient; contracts: EvmContracts }

type Options = {
  network: NetworkConfig
  config: EvmChainConfig
  urls: readonly string[]
  accounts: readonly PrivateKeyAccount[]
  placeOf: PlaceOf
  assertOutsideTransaction(): void
}

/** An EVM chain with everything that the processes need of it. Nothing is asked of a node yet. */
export function connectEvm(options: Options): ConnectedChain & { evm: EvmParts } {
  const { network, config, urls, accounts, placeOf, assertOutsideTransaction } = options
  const client = createEvmClient({ urls, assertOutsideTransaction })
  const contracts = toContracts(config)
  const [relay, deliver] = [network.relayers, network.deliverers].map((keys) =>
    keys.map((address) => getAddress(address)),
  ) as [Address[], Address[]]
  const settings = {
    chainId: config.chainId,
    ...contracts,
    olderAccounts: (config.olderAccounts ?? []).map((address) => getAddress(address)),
    tokens: [zeroAddress, ...config.tokens.map((token) => getAddress(token.address))],
    finality: config.finality,
    tipWei: config.tipWei === undefined ? undefined : BigInt(config.tipWei),
    ringOf: (op: { originChain: number; locker: string }) => ringOfOp(placeOf, op),
  }
  const roles = { attester: getAddress(network.attester), deliverers: deliver }
  return {
    config,
    chain: createEvmChain({ client, settings, accounts, deliverer: deliver[0] ?? zeroAddress }),
    senders: { relay, deliver },
    maxAmount: MAX_UINT256,
    nativeToken: { address: zeroAddress, decimals: 18 },
    ownAddresses: Object.values(contracts),
    verify: () => verifyChain(client, { ...config, contracts, ...roles }),
    loadTokens: () => loadTokens(client, config),
    readGasBalance: (address) => client.getBalance({ address: address as Address }),
    evm: { client, contracts },
  }
}

export function toContracts({ contracts }: EvmChainConfig): EvmContracts {
  return {
    account: getAddress(contracts.account),
    escrow: getAddress(contracts.escrow),
    vault: getAddress(contracts.vault),
  }
}

function loadTokens(client: PublicClient, { chainId, tokens }: EvmChainConfig): Promise<Token[]> {
  return Promise.all(
    tokens.map(async ({ symbol, asset, address: text }) => {
      const address = getAddress(text)
      return { chainId, address, symbol, asset, decimals: await readDecimals(client, address) }
    }),
  )
}
