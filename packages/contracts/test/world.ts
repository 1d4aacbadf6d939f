import {
  type Abi,
  type Address,
  type ContractEventName,
  concat,
  decodeEventLog,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  hexToBigInt,
  type PrivateKeyAccount,
  zeroAddress,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { geoAccountAbi } from '../../protocol/src/abi/geo-account.gen.ts'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import { testTokenAbi, testTokenBytecode } from '../../protocol/src/abi/test-token.gen.ts'
import { uniswapV3AdapterAbi } from '../../protocol/src/abi/uniswap-v3-adapter.gen.ts'
import * as evm from '../scripts/chain.ts'
import { compileTestContracts } from '../scripts/compile.ts'
import { vaultBytecode } from './code.ts'

export const DAY = 86_400n
export const HOUR = 3_600n
export const NATIVE = zeroAddress
export const UNLIMITED = 2n ** 112n - 1n
export const attester = privateKeyToAccount(`0x${'a7'.repeat(32)}`)
/** Three keys, sorted as the escrow keeps them. */
export const attesters = ['a8', 'a9', 'aa']
  .map((byte) => privateKeyToAccount(`0x${byte.repeat(32)}`))
  .sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))

/** Compiled while the file loads, so that it does not count towards a test's timeout. */
const testContracts = compileTestContracts()

/** A chain with the three contracts, a token, and all accounts. */
export type World = {
  chain: evm.Chain
  escrow: Address
  account: Address
  vault: Address
  token: Address
  treasury: Address
  locker: Address
  secondLocker: Address
  deliverer: Address
  stranger: Address
}

/** Deploys everything, with open caps, and stocks the vault with the token and native coin. */
export async function createWorld(
  options: evm.ChainOptions & { members?: readonly Address[]; threshold?: bigint } = {},
): Promise<World> {
  const abis = [...geoEscrowAbi, ...geoVaultAbi, ...geoAccountAbi, ...uniswapV3AdapterAbi]
  const errors = abis.filter(({ type }) => type === 'error')
  const chain = await evm.createChain({ ...options, errors })
  const [, treasury, locker, secondLocker, deliverer, stranger] = chain.accounts.map((account) => account)
  if (!treasury || !locker || !secondLocker || !deliverer || !stranger) throw new Error('too few accounts')
  const { members = [attester.address], threshold = 1n } = options
  const vaultCode = { abi: geoVaultAbi, bytecode: vaultBytecode }
  const vault = await evm.deploy(chain, vaultCode, [treasury, members, threshold])
  const escrow = await readAddress(
    chain,
    vault,
    encodeFunctionData({ abi: geoVaultAbi, functionName: 'ESCROW' }),
  )
  const tokenCode = { abi: testTokenAbi, bytecode: testTokenBytecode }
  const token = await evm.deploy(chain, tokenCode, ['Dollar', 'USD', 6])
  const account = await readAddress(
    chain,
    escrow,
    encodeFunctionData({ abi: geoEscrowAbi, functionName: 'ACCOUNT' }),
  )
  const world = { chain, escrow, account, vault, token, treasury, locker, secondLocker, deliverer, stranger }
  await openForBusiness(world)
  return world
}

async function readAddress(chain: evm.Chain, to: Address, data: Hex): Promise<Address> {
  return `0x${(await evm.read(chain, { to, data })).slice(26)}`
}

async function openForBusiness(world: World): Promise<void> {
  const { chain, treasury, vault, deliverer, stranger } = world
  const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setDeliverer', args: [deliverer, true] })
  await evm.send(chain, { from: treasury, to: vault, data })
  await evm.send(chain, { from: stranger, to: vault, value: 10n ** 18n })
  await listToken(world, world.token)
  await listToken(world, NATIVE)
  const plain = encodeFunctionData({
    abi: geoVaultAbi,
    functionName: 'setPlainToken',
    args: [world.token, true],
  })
  await evm.send(chain, { from: treasury, to: vault, data: plain })
}

/** Opens the caps of a token and, unless it is native, stocks the vault with it. */
export async function listToken(world: World, token: Address): Promise<void> {
  const { chain, treasury: from, vault, escrow } = world
  const args = [token, UNLIMITED] as const
  const capData = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setCap', args })
  const claimData = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'setClaimCap', args })
  await evm.send(chain, { from, to: vault, data: capData })
  await evm.send(chain, { from, to: escrow, data: claimData })
  const refundData = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'setRefundCap', args })
  await evm.send(chain, { from, to: escrow, data: refundData })
  if (token !== NATIVE) await mint(world, { token, to: vault, amount: 10n ** 18n })
}

export const testAbiOf = (name: string): Abi => testContracts[name]?.abi ?? []

/** Deploys one of the contracts below `src/test`. */
export function deployTest(world: World, name: string, args: readonly unknown[] = []): Promise<Address> {
  const contract = testContracts[name]
  if (!contract) throw new Error(`there is no test contract ${name}`)
  return evm.deploy(world.chain, contract, args)
}

/** A test token, listed like any other. */
export async function deployListed(world: World, name: string): Promise<Address> {
  const token = await deployTest(world, name)
  await listToken(world, token)
  return token
}

/** Calls a function of a test contract by name. */
export function callTestContract(
  world: World,
  call: { name: string; to: Address; functionName: string; args: unknown[] },
) {
  const contract = testContracts[call.name]
  if (!contract) throw new Error(`there is no test contract ${call.name}`)
  const data = encodeFunctionData({ abi: contract.abi, functionName: call.functionName, args: call.args })
  return evm.send(world.chain, { from: world.stranger, to: call.to, data })
}

export async function mint(
  world: World,
  input: { token: Address; to: Address; amount: bigint },
): Promise<void> {
  const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [input.to, input.amount] })
  await evm.send(world.chain, { from: world.stranger, to: input.token, data })
}

/** A holder's balance of a token, or of native coin. */
export async function readBalance(world: World, token: Address, holder: Address): Promise<bigint> {
  if (token === NATIVE) return evm.readCoins(world.chain, holder)
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
  return hexToBigInt(await evm.read(world.chain, { to: token, data }))
}

/** A wallet with its own key, delegated to GeoAccount by a sponsored authorization, holding 1,000 units. */
export async function createWallet(
  world: World,
  token = world.token,
  amount = 1_000n,
  key = generatePrivateKey(),
): Promise<PrivateKeyAccount> {
  const wallet = privateKeyToAccount(key)
  await delegate(world, wallet, world.account)
  if (token === NATIVE)
    await evm.send(world.chain, { from: world.stranger, to: wallet.address, value: amount })
  else if (amount > 0n) await mint(world, { token, to: wallet.address, amount })
  return wallet
}

/** Sets a wallet's delegation; the zero address removes it. */
export async function delegate(world: World, wallet: PrivateKeyAccount, to: Address): Promise<void> {
  const authorization = await authorize(world, wallet, to)
  await evm.sendSigned(world.chain, await createSponsor(world), {
    to: world.stranger,
    authorizations: [authorization],
  })
}

/** The wallet's signed EIP-7702 authorization for its next nonce, or another. */
export async function authorize(world: World, wallet: PrivateKeyAccount, to: Address, nonce?: number) {
  const next = nonce ?? (await evm.readNonce(world.chain, wallet.address))
  return wallet.signAuthorization({ contractAddress: to, chainId: world.chain.id, nonce: next })
}

/** A key with gas that sends transactions for wallets that have none. */
export async function createSponsor(world: World, key = generatePrivateKey()): Promise<PrivateKeyAccount> {
  const sponsor = privateKeyToAccount(key)
  await evm.ask(world.chain, 'hardhat_setBalance', [sponsor.address, '0x8ac7230489e80000'])
  return sponsor
}

export function readCode(world: World, address: Address): Promise<Hex> {
  return evm.ask<Hex>(world.chain, 'eth_getCode', [address, 'latest'])
}

export const designator = (to: Address): Hex => concat(['0xef0100', to]).toLowerCase() as Hex

const events = [...geoEscrowAbi, ...geoVaultAbi].filter((item) => item.type === 'event')

type EventName = ContractEventName<typeof geoEscrowAbi> | ContractEventName<typeof geoVaultAbi>
type Event = { name: EventName; id: Hex; args: Record<string, unknown> }

/** The contracts' logs in a receipt, in order; `id` is the first indexed value. */
export function readEvents(world: World, receipt: evm.Receipt): Event[] {
  const ours = [world.escrow, world.vault].map((address) => address.toLowerCase())
  return receipt.logs
    .filter((log) => ours.includes(log.address.toLowerCase()))
    .map((log) => {
      const { eventName, args } = decodeEventLog({ abi: events, data: log.data, topics: log.topics })
      return { name: eventName, id: log.topics[1] ?? '0x', args: { ...args } }
    })
}

export const eventNames = (world: World, receipt: evm.Receipt) =>
  readEvents(world, receipt).map(({ name }) => name)

/** Runs `body` and reverts the chain to its earlier state. */
export async function withRevert<T>(world: World, body: () => Promise<T>): Promise<T> {
  const snapshot = await evm.ask<Hex>(world.chain, 'evm_snapshot')
  try {
    return await body()
  } finally {
    await evm.ask(world.chain, 'evm_revert', [snapshot])
  }
}
