import { CREATE2_PROXY, geoEscrowAbi, geoVaultAbi, planAdapter, testTokenAbi } from '@geoswap/protocol'
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  parseAbi,
  toHex,
  zeroAddress,
} from 'viem'
import {
  CALL_GAS,
  CREATION_GAS,
  create,
  type DeployedChain,
  type DeployedToken,
  type Deployer,
  deployToken,
  execute,
} from '../deploy.ts'
import { createEvmClient, createEvmSender } from '../evm-sender.ts'
import type { Keys } from '../keys.ts'
import {
  amountWorth,
  type ChainPlan,
  CLAIM_CAP_TIMES,
  INVENTORY_USD,
  LINK,
  POOL_SIDE_USD,
  POOLS,
} from '../plan.ts'
import { uniswapV3 } from './artifacts.ts'
import { encodeNewPool } from './calls.ts'

type Contracts = { factory: Address; router: Address; quoter: Address; positions: Address; adapter: Address }
type Pool = { address: Address; tokens: [Address, Address]; fee: number }
/** `adapter` is this project's contract, which GeoVault allows; the rest is Uniswap's. */
export type DeployedUniswapV3 = Contracts & { pools: Pool[] }
export type DeployedWithVenue = DeployedChain & { uniswapV3: DeployedUniswapV3 }

type Chain = Omit<ChainPlan, 'tokens'> & DeployedChain & { rpcUrl: string; keys: Keys }

const SALT = keccak256(toHex('uniswap-v3'))
const UNLIMITED = 2n ** 256n - 1n
const factoryAbi = parseAbi(['function getPool(address, address, uint24) view returns (address)'])

/**
 * Adds Uniswap V3 to a chain with the protocol's contracts: pools at the start prices, the adapter through
 * which the vault buys, and a token that only pools sell.
 */
export async function deployUniswapV3(chain: Chain): Promise<DeployedWithVenue> {
  const { contracts, feeds, keys, chainId } = chain
  const client = createEvmClient(chain.rpcUrl)
  const treasury = createEvmSender(client, { privateKey: keys.treasury.privateKey, chainId })
  const deployer = { client, treasury }

  await client.setAutomine(true)
  try {
    const link = await deployToken(deployer, { chain, token: LINK })
    const tokens = [...chain.tokens, link]
    const uniswap = await deployVenue(deployer, getToken(tokens, 'WETH').address)
    await openVault(deployer, { ...contracts, token: link, adapter: uniswap.adapter })
    const pools = await Promise.all(
      POOLS.map((pool) => createPool(deployer, { ...pool, tokens, ...uniswap })),
    )
    return { contracts, tokens, feeds, uniswapV3: { ...uniswap, pools } }
  } finally {
    await client.setAutomine(false)
  }
}

async function deployVenue(deployer: Deployer, weth: Address): Promise<Contracts> {
  const deploy = (contract: { abi: Abi; bytecode: Hex }, args: readonly unknown[]) =>
    create(deployer, { bytecode: encodeDeployData({ ...contract, args }), salt: SALT })
  const factory = await deploy(uniswapV3.factory, [])
  const [router, quoter, positions, adapter] = await Promise.all([
    deploy(uniswapV3.router, [factory, weth]),
    deploy(uniswapV3.quoter, [factory, weth]),
    // The last argument renders images of positions, which are not used here.
    deploy(uniswapV3.positions, [factory, weth, zeroAddress]),
    deployAdapter(deployer, factory),
  ])
  return { factory, router, quoter, positions, adapter }
}

async function deployAdapter(deployer: Deployer, factory: Address): Promise<Address> {
  const { address, data } = planAdapter(factory)
  await execute(deployer, { to: CREATE2_PROXY, data, gas: CREATION_GAS })
  return address
}

type Opening = { vault: Address; escrow: Address; token: DeployedToken; adapter: Address }

/** Allows the vault to buy through the adapter, and the token as an input; the vault holds none of it. */
async function openVault(deployer: Deployer, { vault, escrow, token, adapter }: Opening): Promise<void> {
  const cap = [token.address, amountWorth(INVENTORY_USD, token)] as const
  const escrowCap = [token.address, amountWorth(INVENTORY_USD, token) * CLAIM_CAP_TIMES] as const
  const allow = [adapter, true] as const
  const calls = [
    { to: vault, data: encodeFunctionData({ abi: geoVaultAbi, functionName: 'setAdapter', args: allow }) },
    { to: vault, data: encodeFunctionData({ abi: geoVaultAbi, functionName: 'setCap', args: cap }) },
    ...(['setClaimCap', 'setRefundCap'] as const).map((functionName) => ({
      to: escrow,
      data: encodeFunctionData({ abi: geoEscrowAbi, functionName, args: escrowCap }),
    })),
  ]
  await Promise.all(calls.map((call) => execute(deployer, { ...call, gas: CALL_GAS })))
}

type NewPool = (typeof POOLS)[number] & Contracts & { tokens: readonly DeployedToken[] }

/** A pool whose liquidity belongs to the treasury. */
async function createPool(deployer: Deployer, pool: NewPool): Promise<Pool> {
  const { fee, factory, positions: to, tokens } = pool
  const owner = deployer.treasury.address
  const toSide = (token: DeployedToken) => ({
    token: token.address,
    amount: amountWorth(POOL_SIDE_USD, token),
  })
  const [first, second] = pool.symbols
  const sides = [toSide(getToken(tokens, first)), toSide(getToken(tokens, second))] as const
  const calls = sides.flatMap(({ token, amount }) => [
    {
      to: token,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [owner, amount] }),
    },
    {
      to: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [to, UNLIMITED] }),
    },
  ])
  await Promise.all(calls.map((call) => execute(deployer, { ...call, gas: CALL_GAS })))
  await execute(deployer, { to, data: encodeNewPool({ sides, fee }, owner), gas: CREATION_GAS })

  const pair = [sides[0].token, sides[1].token] as const
  const read = { address: factory, abi: factoryAbi, functionName: 'getPool', args: [...pair, fee] } as const
  return { address: await deployer.client.readContract(read), tokens: [...pair], fee }
}

function getToken(tokens: readonly DeployedToken[], symbol: string): DeployedToken {
  const token = tokens.find((each) => each.symbol === symbol)
  if (!token) throw new Error(`There is no token ${symbol} to make a pool of`)
  return token
}
