import {
  CONTRACT_CODE,
  CREATE2_PROXY,
  CREATE2_PROXY_CODE,
  geoEscrowAbi,
  geoVaultAbi,
  isCodeOf,
  planDeployment,
  testDollarAbi,
  testDollarBytecode,
  testFeedAbi,
  testFeedBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@geoswap/protocol'
import {
  type Address,
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  parseEther,
  toHex,
} from 'viem'
import {
  createEvmClient,
  createEvmSender,
  type EvmClient,
  type EvmSender,
  waitForReceipt,
} from './evm-sender.ts'
import type { Keys } from './keys.ts'
import {
  ASSETS,
  type AssetPlan,
  amountWorth,
  type ChainPlan,
  CLAIM_CAP_TIMES,
  FEED_DECIMALS,
  INVENTORY_USD,
  NATIVE,
} from './plan.ts'

export type DeployedToken = { symbol: string; asset: string; address: Address; decimals: number }
type DeployedFeed = { asset: string; chainId: number; address: Address; decimals: number }
export type DeployedChain = {
  contracts: { account: Address; escrow: Address; vault: Address }
  tokens: DeployedToken[]
  feeds: DeployedFeed[]
}

export type Deployer = { client: EvmClient; treasury: EvmSender }
type Creation = { bytecode: Hex; salt: Hex }

export const CREATION_GAS = 15_000_000n
export const CALL_GAS = 500_000n
const GAS_MONEY = parseEther('100')
// The faucet gives away native coin and must never run out.
const FAUCET_MONEY = 10n ** 40n

/**
 * Deploys contracts, tokens, feeds, inventory and gas balances on a new chain. GeoVault, GeoEscrow and
 * GeoAccount have the same addresses on every chain with the same keys.
 */
export async function deployContracts(
  chain: ChainPlan & { rpcUrl: string; keys: Keys },
): Promise<DeployedChain> {
  const { keys, chainId } = chain
  const client = createEvmClient(chain.rpcUrl)
  const treasury = createEvmSender(client, { privateKey: keys.treasury.privateKey, chainId })
  const deployer = { client, treasury }

  await prepareAccounts(client, keys)
  await client.setAutomine(true)
  try {
    const contracts = await deployProtocol(deployer, keys)
    const tokens = await Promise.all(chain.tokens.map((token) => deployToken(deployer, { chain, token })))
    const feeds = await Promise.all(ASSETS.map((asset) => deployFeed(deployer, { chain, asset })))
    await stockVault(deployer, { contracts, tokens })
    await Promise.all(
      keys.deliverers.map(({ address }) => {
        const args = [address, true] as const
        const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setDeliverer', args })
        return execute(deployer, { to: contracts.vault, data, gas: CALL_GAS })
      }),
    )
    return { contracts, tokens, feeds }
  } finally {
    await client.setAutomine(false)
  }
}

async function prepareAccounts(client: EvmClient, keys: Keys): Promise<void> {
  const paying = [
    keys.treasury,
    keys.keeper,
    ...keys.relayers,
    ...keys.authorizationRelayers,
    ...keys.deliverers,
  ]
  await Promise.all([
    client.setCode({ address: CREATE2_PROXY, bytecode: CREATE2_PROXY_CODE }),
    client.setBalance({ address: keys.faucet.address, value: FAUCET_MONEY }),
    ...paying.map(({ address }) => client.setBalance({ address, value: GAS_MONEY })),
  ])
}

/** Deploys as an operator does, so that the local contracts equal those of other networks. */
async function deployProtocol(deployer: Deployer, keys: Keys): Promise<DeployedChain['contracts']> {
  const { contracts, creations } = planDeployment({
    treasury: keys.treasury.address,
    attesters: keys.attesters.map(({ address }) => address),
    threshold: keys.threshold,
  })
  for (const { data } of creations) await execute(deployer, { to: CREATE2_PROXY, data, gas: CREATION_GAS })
  for (const name of ['account', 'escrow', 'vault'] as const) {
    const code = await deployer.client.getCode({ address: contracts[name] })
    if (!code || !isCodeOf(code, CONTRACT_CODE[name])) throw new Error(`The ${name} contract was not created`)
  }
  return contracts
}

export async function deployToken(
  deployer: Deployer,
  { chain, token }: { chain: { name: string }; token: ChainPlan['tokens'][number] },
): Promise<DeployedToken> {
  const { symbol, asset, decimals } = token
  const args = [token.name, symbol, decimals] as const
  // USDC takes signatures like the real one; the others are plain tokens.
  const isDollar = asset === 'USDC'
  const bytecode = isDollar
    ? encodeDeployData({ abi: testDollarAbi, bytecode: testDollarBytecode, args })
    : encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode, args })
  // Different addresses on each chain, as for real tokens, so that a mix-up of chains is noticed.
  const salt = keccak256(toHex(`${chain.name}/${symbol}`))
  return { symbol, asset, decimals, address: await create(deployer, { bytecode, salt }) }
}

async function deployFeed(
  deployer: Deployer,
  { chain, asset }: { chain: ChainPlan; asset: AssetPlan },
): Promise<DeployedFeed> {
  const args = [FEED_DECIMALS, `${asset.name} / USD`, asset.usdE8] as const
  const bytecode = encodeDeployData({ abi: testFeedAbi, bytecode: testFeedBytecode, args })
  const salt = keccak256(toHex(`${chain.name}/feed/${asset.name}`))
  const address = await create(deployer, { bytecode, salt })
  return { asset: asset.name, chainId: chain.chainId, address, decimals: FEED_DECIMALS }
}

async function stockVault(
  deployer: Deployer,
  { contracts, tokens }: Omit<DeployedChain, 'feeds'>,
): Promise<void> {
  const { vault, escrow } = contracts
  await deployer.client.setBalance({ address: vault, value: amountWorth(INVENTORY_USD, NATIVE) })
  const calls = [NATIVE, ...tokens].flatMap((token) => {
    // The hourly cap equals the inventory: tests set lower caps.
    const amount = amountWorth(INVENTORY_USD, token)
    const args = [token.address, amount] as const
    const claimArgs = [token.address, amount * CLAIM_CAP_TIMES] as const
    const cap = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setCap', args })
    const claimCap = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'setClaimCap', args: claimArgs })
    const refundCap = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'setRefundCap', args: claimArgs })
    const plainArgs = [token.address, true] as const
    const plain = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setPlainToken', args: plainArgs })
    const mint = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [vault, amount] })
    const caps = [
      { to: vault, data: cap, gas: CALL_GAS },
      { to: escrow, data: claimCap, gas: CALL_GAS },
      { to: escrow, data: refundCap, gas: CALL_GAS },
    ]
    if (token === NATIVE) return caps
    return [
      ...caps,
      { to: vault, data: plain, gas: CALL_GAS },
      { to: token.address, data: mint, gas: CALL_GAS },
    ]
  })
  await Promise.all(calls.map((call) => execute(deployer, call)))
}

export async function create(deployer: Deployer, { bytecode, salt }: Creation): Promise<Address> {
  const address = getContractAddress({ opcode: 'CREATE2', from: CREATE2_PROXY, salt, bytecode })
  await execute(deployer, { to: CREATE2_PROXY, data: concat([salt, bytecode]), gas: CREATION_GAS })
  const code = await deployer.client.getCode({ address })
  if (!code) throw new Error(`No contract was created at ${address}`)
  return address
}

export async function execute(
  deployer: Deployer,
  call: { to: Address; data: Hex; gas: bigint },
): Promise<void> {
  const hash = await deployer.treasury.send(call)
  const receipt = await waitForReceipt(deployer.client, { hash, timeoutMs: 60_000 })
  if (receipt?.status !== 'success')
    throw new Error(`Transaction ${hash} to ${call.to} failed while deploying`)
}
