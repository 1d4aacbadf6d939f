import { type Address, formatUnits, type PrivateKeyAccount } from 'viem'
import { createSolanaClient } from '../chains/solana/client.ts'
import { payByNonce, readNonceRent } from '../chains/solana/nonce-payments.ts'
import type { SolanaSigner } from '../chains/solana/settings.ts'
import { describeError, type Env, type Output, parseFlags, toTable, UsageError } from '../command.ts'
import { connectChains } from '../compose/chains.ts'
import type { ChainConfig, EvmChainConfig, NetworkConfig, SolanaChainConfig } from '../config.ts'
import { about, missingOf } from '../swap/gas-funding.ts'
import { openWallet } from './chain-wallet.ts'
import { type ChainGas, type KeyGas, readAllGas } from './checks.ts'
import { assertCluster } from './deploy-solana.ts'
import { findDeployer, onEach, openDeployer, openSolanaDeployer } from './deployer.ts'
import { readChosen } from './served.ts'

export const FUND_HELP = `fund plan [--config FILE] [--swaps N]
      Shows the gas coin of every key that sends, what it should hold for its part of N swaps (default 300) at twice
      the current fees, and what is missing in all.
  service fund apply [--config FILE] [--swaps N]
      Sends what is missing from one key: GEOSWAP_DEPLOYER_KEY, or the deployer of GEOSWAP_KEYSTORE; on Solana
      GEOSWAP_SOLANA_DEPLOYER_KEY, or the solana-deployer. A key with more than half of its amount gets nothing, and
      a run that is repeated pays nobody twice.`

type Payment = KeyGas & { amount: bigint }
type ChainFunding = { chain: ChainGas['connected']; payments: readonly Payment[]; total: bigint }

export async function fund(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command !== 'plan' && command !== 'apply')
    throw new UsageError('Unknown command: use fund plan or fund apply. Try --help.')
  const { config, swaps } = parse(rest)
  const { network } = readChosen(env, config)
  const chains = connectChains({ network, urlsOf: (chain) => chain.rpcUrls })
  const fundings = (await readAllGas(network, chains, swaps)).map(toFunding)
  output.out(describe(fundings))
  if (command === 'apply') return send(env, { network, fundings }, output)
  for (const each of fundings) output.hint(`${each.chain.config.name}: ${describeTotal(each)}`)
  for (const family of FAMILIES) {
    const funder = findDeployer(env, DEPLOYERS[family])
    const isUsed = fundings.some(({ chain }) => chain.config.family === family)
    if (funder && isUsed) output.hint(`fund apply pays from ${funder}.`)
  }
  return 0
}

const FAMILIES = ['evm', 'solana'] as const
const DEPLOYERS = { evm: 'deployer', solana: 'solana-deployer' } as const

function toFunding({ connected, keys }: ChainGas): ChainFunding {
  const payments = keys.map((key) => ({ ...key, amount: missingOf(key) }))
  const total = payments.reduce((sum, { amount }) => sum + amount, 0n)
  return { chain: connected, payments, total }
}

function describe(fundings: readonly ChainFunding[]): string {
  const rows = fundings.flatMap(({ chain, payments }) => {
    const { decimals } = chain.nativeToken
    const { name, native } = chain.config
    return payments.map(({ role, address, balance, needs, amount }) => [
      name,
      role,
      address,
      formatUnits(balance, decimals),
      about(needs, decimals),
      amount === 0n ? '' : `${about(amount, decimals)} ${native.symbol}`,
    ])
  })
  return toTable([['CHAIN', 'ROLE', 'ADDRESS', 'HAS', 'NEEDS', 'SEND'], ...rows])
}

function describeTotal({ chain: { config, nativeToken }, total }: ChainFunding): string {
  if (total === 0n) return 'nothing to send'
  return `about ${about(total, nativeToken.decimals)} ${config.native.symbol} to send`
}

type Sent = { network: NetworkConfig; fundings: readonly ChainFunding[] }
type Funders = { evm?: PrivateKeyAccount; solana?: SolanaSigner }

async function send(env: Env, { network, fundings }: Sent, output: Output): Promise<number> {
  const due = fundings.filter(({ total }) => total > 0n)
  const isDue = (family: ChainConfig['family']) => due.some(({ chain }) => chain.config.family === family)
  const funders: Funders = {
    ...(isDue('evm') && { evm: openDeployer(env, network) }),
    ...(isDue('solana') && { solana: await openSolanaDeployer(env, network) }),
  }
  const missing = (await Promise.all(due.map((each) => findMissing(each, funders)))).flat()
  if (missing.length > 0) throw new UsageError(missing.join('\n'))
  const sent = await onEach(due, (each) => sendOn(each, funders, output))
  if (sent.every((count) => count === 0)) output.out('Nothing to send.')
  return 0
}

/** The funder needs the sum, gas for its payments, and on Solana rent. */
async function findMissing({ chain, total }: ChainFunding, funders: Funders): Promise<string[]> {
  const { config, nativeToken } = chain
  const funder = getFunder(funders, config).address
  const reserve = config.family === 'solana' ? await readSolanaReserve(config, funder) : 0n
  const balance = await chain.readGasBalance(funder)
  if (balance > total + reserve) return []
  const needs = `${about(total + reserve, nativeToken.decimals)} ${config.native.symbol}`
  const has = formatUnits(balance, nativeToken.decimals)
  return [
    `${config.name}: the funder ${funder} has ${has} and needs more than ${needs}: send it there first.`,
  ]
}

function getFunder<F extends ChainConfig['family']>(
  funders: Funders,
  { name, family }: { name: string; family: F },
): NonNullable<Funders[F]> {
  const funder = funders[family]
  if (!funder) throw new Error(`No key pays on ${name}`)
  return funder as NonNullable<Funders[F]>
}

function sendOn({ chain, payments }: ChainFunding, funders: Funders, { out }: Output): Promise<number> {
  const { config } = chain
  if (config.family === 'solana')
    return fundSolana({ config, keys: payments }, getFunder(funders, config), out)
  return fundEvm({ config, keys: payments }, getFunder(funders, config), out)
}

function parse(args: string[]): { config: string | undefined; swaps: bigint | undefined } {
  const { values } = parseFlags({ args, options: { config: { type: 'string' }, swaps: { type: 'string' } } })
  const { config, swaps } = values
  if (swaps !== undefined && !/^[1-9]\d{0,8}$/.test(swaps)) throw new UsageError('--swaps must be a number.')
  return { config, swaps: swaps === undefined ? undefined : BigInt(swaps) }
}

type Funding = { config: EvmChainConfig; keys: readonly KeyGas[] }

/** Pays what the keys lack, one after the other. Balances are read again after the nonce of the first payment. */
async function fundEvm(
  { config, keys }: Funding,
  account: PrivateKeyAccount,
  say: (text: string) => void,
): Promise<number> {
  const wallet = await openWallet(config, account)
  const read = await Promise.all(
    keys.map(async ({ role, address, needs }) => {
      const balance = await wallet.client.getBalance({ address: address as Address })
      return { role, address: address as Address, amount: missingOf({ balance, needs }) }
    }),
  )
  const due = read.filter(({ amount }) => amount > 0n)
  for (const { role, address, amount } of due) {
    const what = `${config.name}: ${formatUnits(amount, 18)} ${config.native.symbol} to the ${role} ${address}`
    try {
      const { txHash } = await wallet.send({ to: address, value: amount })
      say(`${what}, ${txHash}`)
    } catch (error) {
      throw new Error(`${what} failed: ${describeError(error)}. Run it again.`, { cause: error })
    }
  }
  return due.length
}

const SOL_DECIMALS = 9
// Of the two transactions of a run, at the highest price.
const FEE_LAMPORTS = 500_000n

type SolanaFunding = { config: SolanaChainConfig; keys: readonly KeyGas[] }

/** Pays what the keys lack, in one transaction. */
async function fundSolana(
  { config, keys }: SolanaFunding,
  payer: SolanaSigner,
  say: (text: string) => void,
): Promise<number> {
  const client = createSolanaClient({ urls: config.rpcUrls })
  await assertCluster(client, config)
  let due: { role: string; to: string; lamports: bigint }[] = []
  const txHash = await payByNonce(client, payer, {
    addresses: keys.map(({ address }) => address),
    plan(balances) {
      due = keys.flatMap(({ role, address, needs }, index) => {
        const lamports = missingOf({ balance: balances[index] ?? 0n, needs })
        return lamports > 0n ? [{ role, to: address, lamports }] : []
      })
      return due
    },
  }).catch((error: unknown) => {
    throw new Error(`${config.name}: ${describeError(error)}. Run it again.`, { cause: error })
  })
  if (txHash === undefined) return 0
  for (const { role, to, lamports } of due)
    say(`${config.name}: ${formatUnits(lamports, SOL_DECIMALS)} SOL to the ${role} ${to}, ${txHash}`)
  return due.length
}

/** Needed by the payer beside the payments: fees, the nonce account, and the least that keeps its own account. */
async function readSolanaReserve({ rpcUrls }: SolanaChainConfig, payer: string): Promise<bigint> {
  const client = createSolanaClient({ urls: rpcUrls })
  const [own, nonce] = await Promise.all([
    client.rpc.getMinimumBalanceForRentExemption(0n).send(),
    readNonceRent(client, payer),
  ])
  return own + nonce + FEE_LAMPORTS
}
