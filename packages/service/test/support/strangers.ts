import { createKeys, deployContracts, EVM_CHAINS, startChain } from '@geoswap/devnet'
import {
  authorizationOf,
  depositAddressOf,
  type EscrowOp,
  geoEscrowAbi,
  hashEscrowOp,
  readerAbi,
  readerBytecode,
  receiveTypes,
  signedTokenAbi,
  testTokenAbi,
} from '@geoswap/protocol'
import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  type PrivateKeyAccount,
  publicActions,
  walletActions,
  zeroHash,
} from 'viem'
import { connectEvm } from '../../src/chains/evm/connect.ts'
import { finishChain } from '../../src/config/finish.ts'
import type { EvmChainConfig } from '../../src/config.ts'
import { evmWays } from '../../src/ways/registry.ts'
import { lockBehindPointers } from './pointers.ts'

type Call = { target: Address; data: Hex }

const FINALITY = { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 1, hardSeconds: 10 }
const GAS = 16_000_000n

/** Our contracts on a local chain, which mines each transaction at once, and what anyone can do there. */
export async function startStrangersWorld() {
  const [plan] = EVM_CHAINS
  if (!plan) throw new Error('The local network has no EVM chain')
  const node = await startChain({ name: 'strangers', chainId: plan.chainId })
  const { rpcUrl } = node
  const client = createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
  await client.setIntervalMining({ interval: 0 })
  const keys = createKeys()
  const { contracts, tokens } = await deployContracts({ ...plan, rpcUrl, keys })
  const config: EvmChainConfig = finishChain({
    ...{ family: 'evm', chainId: plan.chainId, name: plan.name, contracts, finality: FINALITY },
    ...{ rpcUrls: [rpcUrl], attesterRpcUrls: [rpcUrl], blockMs: 1_000 },
    native: { symbol: 'ETH', asset: 'ETH' },
    tokens: tokens.map(({ symbol, asset, address }) => ({ symbol, asset, address })),
  })
  const [relayer, deliverer] = [keys.relayers[0], keys.deliverers[0]]
  if (!relayer || !deliverer) throw new Error('No keys')
  const custody = { escrow: contracts.escrow, vault: contracts.vault }
  const connected = connectEvm({
    network: {
      ...{ assets: [], authorizationRelayers: [] },
      attesters: { members: [relayer.address], threshold: 1 },
      relayers: [relayer.address],
      deliverers: [deliverer.address],
    },
    config,
    custodyOf: () => custody,
    urls: [rpcUrl],
    assertOutsideTransaction: () => {},
    venues: [],
    locks: evmWays,
    float: undefined,
    signers: [],
  })
  const token = tokens[0]?.address as Address
  const { escrow } = contracts

  /** Sends from any account, and returns the hash of the transaction. */
  async function send(from: Address, call: { to?: Address; data: Hex; value?: bigint }): Promise<Hex> {
    await client.impersonateAccount({ address: from })
    await client.setBalance({ address: from, value: 10n ** 20n })
    const hash = await client.sendTransaction({ account: from, chain: null, gas: GAS, ...call })
    await client.mine({ blocks: 1 })
    const { status, gasUsed } = await client.getTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`The transaction failed with ${gasUsed} gas`)
    return hash
  }

  return {
    ...{ client, connected, chain: connected.chain, escrow, token, relayer: relayer.address, rpcUrl },
    chainId: plan.chainId,
    stop: () => node.stop(),
    send,
    /** Makes these calls in one transaction, as a contract that exists in no other. */
    run: (from: Address, calls: readonly Call[]) => {
      const args = [calls.map((call) => ({ ...call, gas: 0n }))] as const
      return send(from, { data: encodeDeployData({ abi: readerAbi, bytecode: readerBytecode, args }) })
    },
    async nowSeconds() {
      return (await client.getBlock()).timestamp
    },
    mint: (to: Address, amount: bigint): Call => ({
      target: token,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [to, amount] }),
    }),
    recover: (op: EscrowOp, of: Address = token): Call => ({
      target: escrow,
      data: encodeFunctionData({ abi: geoEscrowAbi, functionName: 'recover', args: [op.locker, op, of] }),
    }),
    lockDeposited: (op: EscrowOp): Call => ({
      target: escrow,
      data: encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockDeposited', args: [op] }),
    }),
    refund: (op: EscrowOp): Call => ({
      target: escrow,
      data: encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args: [op.locker, op] }),
    }),
    /** Locks one op by a batch of so many entries, all of which point to the one op. */
    async lockBehindPointers(
      wallet: PrivateKeyAccount,
      { op, hash }: { op: EscrowOp; hash: Hex },
      entries: number,
    ) {
      const gift = this.mint(wallet.address, op.inputAmount)
      await send(wallet.address, { to: gift.target, data: gift.data })
      const described = { address: token, abi: signedTokenAbi, functionName: 'eip712Domain' } as const
      const [, name, version] = await client.readContract(described)
      const signature = await wallet.signTypedData({
        domain: { name, version, chainId: plan.chainId, verifyingContract: token },
        ...{ types: receiveTypes, primaryType: 'ReceiveWithAuthorization' },
        message: authorizationOf({ escrow }, hash, op),
      })
      const { locker, ...terms } = op
      const data = lockBehindPointers(terms, { signature, entries })
      return send(locker, { to: escrow, data })
    },
    /** An op whose deadline this is, and its own address. */
    opBy(locker: Address, wallet: Address, terms: Partial<EscrowOp> = {}) {
      const op: EscrowOp = {
        ...{ locker, wallet, inputToken: token, inputAmount: 100n, index: 1n << 32n, opDeadline: 1n },
        ...{ refundDeadline: 2n, delivery: zeroHash, ...terms },
      }
      const hash = hashEscrowOp({ chainId: plan.chainId, escrow }, op)
      return { op, hash, address: depositAddressOf(escrow, hash) }
    },
  }
}
