import { type Address, formatUnits, type PrivateKeyAccount } from 'viem'
import { describeError, type Env, type Output, parseFlags, toTable, UsageError } from '../command.ts'
import { connectChains } from '../compose/chains.ts'
import { listKeys } from '../config/keystore.ts'
import { readSetting } from '../config/secrets.ts'
import type { EvmChainConfig, NetworkConfig } from '../config.ts'
import { about, missingOf } from '../model/gas-funding.ts'
import { openWallet, refusePending } from './chain-wallet.ts'
import { openDeployer } from './deployer.ts'
import { type ChainGas, readAllGas } from './gas.ts'
import { readChosen } from './served.ts'

export const FUND_HELP = `fund plan [--config FILE] [--swaps N]
      Shows the gas coin of every key that sends, what it should hold for its part of N swaps (default 300) at twice
      the current fees, and what is missing in all.
  service fund apply [--config FILE] [--swaps N]
      Sends what is missing on every EVM chain from one key: GEOSWAP_DEPLOYER_KEY, or the deployer of
      GEOSWAP_KEYSTORE. A key with more than half of its amount gets nothing. On Solana, send it from your own wallet.`

type Payment = { role: string; address: string; balance: bigint; needs: bigint; amount: bigint }
type ChainFunding = { chain: ChainGas['connected']; payments: readonly Payment[]; total: bigint }

export async function fund(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command !== 'plan' && command !== 'apply')
    throw new UsageError('Unknown command: use fund plan or fund apply. Try --help.')
  const { config, swaps } = parse(rest)
  const { network } = readChosen(env, config)
  const shared = { network, accounts: [], signers: [], findSigned: undefined }
  const chains = connectChains({ ...shared, urlsOf: (chain) => chain.rpcUrls })
  const fundings = (await readAllGas(network, chains, swaps)).map(toFunding)
  output.out(describe(fundings))
  if (command === 'apply') return send(env, { network, fundings }, output)
  const funder = findFunder(env)
  for (const each of fundings) output.hint(`${each.chain.config.name}: ${describeTotal(each)}`)
  if (funder) output.hint(`fund apply pays from ${funder}.`)
  return 0
}

function toFunding({ connected, keys }: ChainGas): ChainFunding {
  const payments = keys.map(({ role, address, balance, needs }) => ({
    ...{ role, address, balance, needs },
    amount: missingOf({ balance, needs }),
  }))
  const total = payments.reduce((sum, { amount }) => sum + amount, 0n)
  return { chain: connected, payments, total }
}

function describe(fundings: readonly ChainFunding[]): string {
  const rows = fundings.flatMap(({ chain, payments }) => {
    const { decimals } = chain.nativeToken
    const { name, native } = chain.config
    return payments.map(({ role, address, balance, needs, amount }) => [
      ...[name, role, address, formatUnits(balance, decimals), about(needs, decimals)],
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

async function send(env: Env, { network, fundings }: Sent, output: Output): Promise<number> {
  const due = fundings.filter(({ total }) => total > 0n)
  const byHand = due.filter(({ chain }) => chain.config.family !== 'evm')
  for (const each of byHand)
    output.hint(`${each.chain.config.name}: ${describeTotal(each)} from a wallet of yours`)
  const sending = due.filter(({ chain }) => chain.config.family === 'evm')
  if (sending.length === 0) {
    output.out('Nothing to send.')
    return 0
  }
  const account = openDeployer(env, network)
  const missing = (await Promise.all(sending.map((each) => findMissing(each, account.address)))).flat()
  if (missing.length > 0) throw new UsageError(missing.join('\n'))
  for (const each of sending) await sendOn(each, account, output)
  return 0
}

/** The funder needs the sum and gas for its payments. */
async function findMissing({ chain, total }: ChainFunding, funder: Address): Promise<string[]> {
  const { config, nativeToken } = chain
  const balance = await chain.readGasBalance(funder)
  if (balance > total) return []
  const needs = `${about(total, nativeToken.decimals)} ${config.native.symbol}`
  const has = formatUnits(balance, nativeToken.decimals)
  return [
    `${config.name}: the funder ${funder} has ${has} and needs more than ${needs}: send it there first.`,
  ]
}

async function sendOn({ chain, payments }: ChainFunding, account: PrivateKeyAccount, output: Output) {
  const config = chain.config as EvmChainConfig
  const wallet = await openWallet(config, account)
  await refusePending(wallet, config, account.address)
  for (const { role, address, amount } of payments.filter((payment) => payment.amount > 0n)) {
    const what = `${config.name}: ${formatUnits(amount, 18)} ${config.native.symbol} to the ${role} ${address}`
    try {
      const { txHash } = await wallet.send({ to: address as Address, value: amount })
      output.out(`${what}, ${txHash}`)
    } catch (error) {
      throw new Error(`${what} failed: ${describeError(error)}. Run it again.`, { cause: error })
    }
  }
}

/** Its address, without opening the key. */
function findFunder(env: Env): string | undefined {
  const folder = env['GEOSWAP_KEYSTORE']
  const isGiven = readSetting(env, 'GEOSWAP_DEPLOYER_KEY', []) !== undefined
  if (isGiven || folder === undefined) return undefined
  return listKeys(folder).find(({ role }) => role === 'deployer')?.address
}

function parse(args: string[]): { config: string | undefined; swaps: bigint | undefined } {
  const { values } = parseFlags({ args, options: { config: { type: 'string' }, swaps: { type: 'string' } } })
  const { config, swaps } = values
  if (swaps !== undefined && !/^[1-9]\d{0,8}$/.test(swaps)) throw new UsageError('--swaps must be a number.')
  return { config, swaps: swaps === undefined ? undefined : BigInt(swaps) }
}
