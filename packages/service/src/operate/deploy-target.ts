import {
  CONTRACT_CODE,
  type ContractName,
  CREATE2_PROXY,
  CREATE2_PROXY_CODE,
  CREATE2_PROXY_COST,
  CREATE2_PROXY_TRANSACTION,
  hashCode,
  isCodeOf,
} from '@geoswap/protocol'
import {
  type Address,
  type Hex,
  type PrivateKeyAccount,
  type PublicClient,
  recoverTransactionAddress,
  sliceHex,
  type TransactionSerializedLegacy,
} from 'viem'
import type { EvmChainConfig } from '../config.ts'
import { type Included, openWallet } from './chain-wallet.ts'

type Estimate = { gas: bigint; cost: bigint }
type CodeCheck = { state: 'right' | 'missing' | 'other'; hash: Hex }

export type DeployTarget = {
  client: PublicClient
  look(name: ContractName, address: Address): Promise<CodeCheck>
  hasProxy(): Promise<boolean>
  createProxy(): Promise<void>
  /** The gas and cost of a creation at the current gas price. A rollup may charge its data on top. */
  estimate(data: Hex): Promise<Estimate>
  create(data: Hex): Promise<Included>
}

/** Throws if the node serves another chain, before anything is sent. */
export async function createDeployTarget(
  config: EvmChainConfig,
  account: PrivateKeyAccount | undefined,
): Promise<DeployTarget> {
  const { client, send, settle } = await openWallet(config, account)
  const codeAt = async (address: Address) => (await client.getCode({ address })) ?? '0x'
  const hasProxy = async () => (await codeAt(CREATE2_PROXY)) === CREATE2_PROXY_CODE

  return {
    client,
    async look(name, address) {
      const code = await codeAt(address)
      const runtime = CONTRACT_CODE[name]
      if (code === '0x') return { state: 'missing', hash: code }
      return { state: isCodeOf(code, runtime) ? 'right' : 'other', hash: hashCode(code, runtime) }
    },
    hasProxy,
    async createProxy() {
      const serializedTransaction = CREATE2_PROXY_TRANSACTION as TransactionSerializedLegacy
      const to = await recoverTransactionAddress({ serializedTransaction })
      const missing = CREATE2_PROXY_COST - (await client.getBalance({ address: to }))
      if (missing > 0n) await send({ to, value: missing })
      await settle(await client.sendRawTransaction({ serializedTransaction }))
    },
    async estimate(data) {
      // Without the proxy, estimates the bare creation without the salt, which costs nearly the same.
      const call = (await hasProxy()) ? { to: CREATE2_PROXY, data } : { data: sliceHex(data, 32) }
      const [gas, price] = await Promise.all([client.estimateGas(call), client.getGasPrice()])
      return { gas, cost: gas * price }
    },
    create: (data) => send({ to: CREATE2_PROXY, data }),
  }
}
