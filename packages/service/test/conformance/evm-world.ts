import { createKeys, deployContracts, EVM_CHAINS, startChain } from '@geoswap/devnet'
import { attestationTypes, geoOpDomain, geoVaultAbi, testTokenAbi } from '@geoswap/protocol'
import {
  type Address,
  createTestClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  publicActions,
  zeroAddress,
  zeroHash,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { connectEvm } from '../../src/chains/evm/connect.ts'
import { finishChain } from '../../src/config/finish.ts'
import type { EvmChainConfig } from '../../src/config.ts'
import type { Swap } from '../../src/swap/swap.ts'
import { evmWays } from '../../src/ways/registry.ts'
import { startNodesBeside } from './liar.ts'
import {
  attester,
  attesterKey,
  type ConformanceWorld,
  INPUT_AMOUNT,
  type Kind,
  type SwapOptions,
  toOp,
  toSwap,
} from './world.ts'

const FINALITY = { accept: [{ depth: 1 }], settle: 2, reorgWindowSeconds: 4, hard: 4 }
const HELD = 3n * INPUT_AMOUNT
// GeoVault's largest cap, so that only its balance limits deliveries.
const UNCAPPED = 2n ** 112n - 1n
// INVALID, the opcode: every payment to this code fails.
const REFUSING_CODE = '0xfe'

const newAddress = () => privateKeyToAddress(generatePrivateKey())

/** `remember` returns what undoes all blocks since, and their transactions. */
export type EvmConformanceWorld = ConformanceWorld & { remember(): Promise<() => Promise<void>> }

/** Our contracts on an EVM chain whose blocks the test mines. */
export async function startEvmWorld(): Promise<EvmConformanceWorld> {
  const { chain, client, config, stop } = await startNode()
  const { custodyOf, connected, senders } = connect(chain.urls, config, chain.keys)
  const { escrow, vault, account } = connected.contracts
  const tokens = { native: zeroAddress, token: config.tokens[0]?.address as Address }
  let position = 0n

  const mine = (blocks: number) => client.mine({ blocks })

  async function act(from: Address, call: { to: Address; data: Hex }): Promise<void> {
    await client.impersonateAccount({ address: from })
    await client.request({ method: 'eth_sendTransaction', params: [{ from, ...call }] } as never)
    await client.stopImpersonatingAccount({ address: from })
    await mine(1)
  }

  async function fund(wallet: Address, kind: Kind): Promise<void> {
    if (kind === 'native') return client.setBalance({ address: wallet, value: HELD })
    const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [wallet, HELD] })
    await act(chain.keys.treasury.address, { to: tokens.token, data })
  }

  async function newSwap(options: SwapOptions = {}): Promise<Swap> {
    const { input = 'token', output = 'native', recipient = newAddress(), quotedOutput } = options
    const wallet = privateKeyToAccount(generatePrivateKey())
    await fund(wallet.address, input)
    const { chainId } = config
    position += 1n
    const op = toOp(custodyOf, {
      method: 'delegation',
      chainId,
      heads: await connected.chain.readHeads(),
      position,
      quotedOutput,
      recipient,
      wallet: wallet.address,
      inputToken: tokens[input],
      outputToken: tokens[output],
      locker: senders.relay,
      createsAccount: false,
    })
    const signature = await wallet.signMessage({ message: { raw: op.hash as Hex } })
    const authorization = await wallet.signAuthorization({ chainId, contractAddress: account, nonce: 0 })
    const { r, s, yParity = 0 } = authorization
    return toSwap(op, { signature, delegation: { chainId, address: account, nonce: 0, r, s, yParity } })
  }

  for (const token of Object.values(tokens)) {
    const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setCap', args: [token, UNCAPPED] })
    await act(chain.keys.treasury.address, { to: vault, data })
  }
  return {
    chain: connected.chain,
    verify: connected.verify,
    senders,
    tokens,
    newSwap,
    stop,
    vault,
    heldFor: ({ inputToken }) => readBalance(client, escrow, inputToken as Address),
    forgeriesAreRefusedBy: 'chain',
    async attest({ kind, swaps, by, validUntil }) {
      const domain = geoOpDomain({ chainId: config.chainId, escrow })
      const signer = by === 'attester' ? attester : stranger
      const ops = swaps.map(({ op }) => op.hash as Hex)
      const [op = '0x'] = ops
      const typed = { domain, types: attestationTypes }
      const signature = await (kind === 'claim'
        ? signer.signTypedData({ ...typed, primaryType: 'Claims', message: { ops } })
        : signer.signTypedData({
            ...{ ...typed, primaryType: 'Refund' },
            message: { op, validUntil: BigInt(validUntil) },
          }))
      return { signer: signer.address, signature }
    },
    async newRefusal() {
      const recipient = newAddress()
      await client.setCode({ address: recipient, bytecode: REFUSING_CODE })
      return { output: 'native', recipient }
    },
    async emptyWallet({ op }) {
      const wallet = op.wallet as Address
      if (op.inputToken === zeroAddress) return client.setBalance({ address: wallet, value: 0n })
      // Sets the storage directly: a transaction of its own would invalidate the wallet's authorization.
      await client.setStorageAt({ address: tokens.token, index: balanceSlotOf(wallet), value: zeroHash })
    },
    balanceOf: (owner, token) => readBalance(client, owner as Address, token as Address),
    confirm: () => mine(FINALITY.settle),
    finalize: () => mine(FINALITY.hard),
    comeTo: ({ deadline }, block) =>
      client.setNextBlockTimestamp({ timestamp: BigInt(deadline) + (block === 'last' ? 0n : 1n) }),
    async remember() {
      const id = await client.snapshot()
      return () => client.revert({ id })
    },
    async broadcastInVain(raw) {
      await connected.chain.broadcast(raw)
      await client.dropTransaction({ hash: keccak256(raw as Hex) })
    },
  }
}

const stranger = privateKeyToAccount(generatePrivateKey())

/** The storage slot of a balance in an OpenZeppelin ERC-20: the mapping is its first variable. */
function balanceSlotOf(owner: Address): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [owner, 0n]))
}

type Client = ReturnType<typeof createClient>
type Keys = ReturnType<typeof createKeys>

function createClient(rpcUrl: string) {
  return createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 }).extend(publicActions)
}

async function readBalance(client: Client, owner: Address, token: Address): Promise<bigint> {
  if (token === zeroAddress) return client.getBalance({ address: owner })
  return client.readContract({ address: token, abi: testTokenAbi, functionName: 'balanceOf', args: [owner] })
}

async function startNode() {
  const [plan] = EVM_CHAINS
  if (!plan) throw new Error('No plan')
  const attesters = [{ privateKey: attesterKey, address: attester.address }]
  const keys: Keys = { ...createKeys(), attesters }
  const node = await startChain({ name: 'conformance', chainId: plan.chainId })
  const client = createClient(node.rpcUrl)
  await client.setIntervalMining({ interval: 0 })
  const { contracts, tokens } = await deployContracts({
    ...plan,
    rpcUrl: node.rpcUrl,
    keys,
  })
  // Provides heads at every depth from the first test on.
  await client.mine({ blocks: FINALITY.hard })
  const config: EvmChainConfig = finishChain({
    family: 'evm',
    chainId: plan.chainId,
    name: plan.name,
    contracts,
    finality: FINALITY,
    rpcUrls: [node.rpcUrl],
    attesterRpcUrls: [node.rpcUrl],
    blockMs: 1_000,
    native: { symbol: 'ETH', asset: 'ETH' },
    tokens: tokens.map(({ symbol, asset, address }) => ({ symbol, asset, address })),
  })
  const nodes = await startNodesBeside(node.rpcUrl, 'evm')
  const stop = async () => {
    await nodes.stop()
    await node.stop()
  }
  return { chain: { urls: nodes.urls, keys }, client, config, stop }
}

function connect(urls: readonly string[], config: EvmChainConfig, keys: Keys) {
  const [relayer, deliverer] = [keys.relayers[0], keys.deliverers[0]]
  if (!relayer || !deliverer) throw new Error('No keys')
  const { escrow, vault } = config.contracts as Record<'escrow' | 'vault', Hex>
  const custodyOf = () => ({ escrow, vault })
  const connected = connectEvm({
    network: {
      assets: [],
      attesters: { members: [attester.address], threshold: 1 },
      relayers: [relayer.address],
      authorizationRelayers: [],
      deliverers: [deliverer.address],
    },
    config,
    custodyOf,
    urls,
    assertOutsideTransaction: () => {},
    venues: [],
    locks: evmWays,
    float: undefined,
    signers: [relayer, deliverer].map(({ privateKey }) => privateKeyToAccount(privateKey)),
  })
  return { connected, custodyOf, senders: { relay: relayer.address, deliver: deliverer.address } }
}
